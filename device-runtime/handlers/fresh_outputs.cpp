#include "device-runtime/handlers/fresh_outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "module/element_difference.h"

namespace ferry::device {
namespace {

// Each access to a GPU's memory takes microseconds.
constexpr std::size_t kGpuBlocks = 8;

std::uint64_t draw(std::uint64_t& state) {
  std::uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Whether a sample has left the same values as the one before. Rounding may differ by as much as `rtol` allows,
// relative to the largest value of the block.
bool is_same(DType dtype, std::span<const std::uint8_t> now, const std::uint8_t* earlier, double rtol) {
  if (!is_float(dtype)) rtol = 0;
  double largest = 0;
  for (std::size_t at = 0; at < now.size(); at += dtype_bytes(dtype)) {
    const double value = std::abs(element_value(dtype, earlier + at));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  for (std::size_t at = 0; at < now.size(); at += dtype_bytes(dtype))
    if (elements_differ(dtype, now.data() + at, earlier + at, rtol, rtol * largest)) return false;
  return true;
}

}  // namespace

Status FreshOutputs::add(std::size_t call, const CheckedCall& checked) {
  for (std::size_t i = 0; i < checked.arguments.size(); ++i) {
    const ParameterInfo& parameter = checked.info().parameters[i];
    const std::uint64_t bytes = checked.bound.tensor_bytes[i];
    if (parameter.direction == Direction::in || bytes == 0) continue;
    Device* const device = checked.module->devices[parameter.device];
    void* const memory = checked.arguments[i].memory;
    auto tensor = std::make_unique<Tensor>(call, device, memory, bytes, parameter.dtype);
    if (parameter.direction == Direction::inout) {
      FERRY_ASSIGN(tensor->kept, Buffer::allocate(*device, bytes));
      FERRY_TRY(device->copy(tensor->kept->memory(), 0, memory, 0, bytes));
    } else if (parameter.strides.empty()) {  // what lies between strided elements stays as it is
      const std::size_t most = device->host_address(memory) != nullptr ? kBlocks : kGpuBlocks;
      tensor->blocks = static_cast<std::size_t>(std::min<std::uint64_t>(most, (bytes + kBlock - 1) / kBlock));
    }
    tensors_.push_back(std::move(tensor));
  }
  return {};
}

bool FreshOutputs::accumulates(std::size_t call) const {
  return std::ranges::any_of(tensors_, [&](const auto& one) { return one->call == call && one->kept != nullptr; });
}

void FreshOutputs::prepare(std::size_t call) {
  for (const auto& tensor : tensors_) {
    if (tensor->call != call) continue;
    if (tensor->kept != nullptr)
      expect(tensor->device->copy(tensor->memory, 0, tensor->kept->memory(), 0, tensor->bytes));
    const std::uint64_t lines = (tensor->bytes + kBlock - 1) / kBlock;
    for (std::size_t i = 0; i < tensor->blocks; ++i) {
      // One line in each of about equal parts.
      const std::uint64_t begin = lines * i / tensor->blocks, end = lines * (i + 1) / tensor->blocks;
      tensor->places[i] = (begin + draw(random_) % (end - begin)) * kBlock;
      for (std::size_t at = 0; at < kBlock; at += 8) {
        const std::uint64_t word = draw(random_);
        std::memcpy(tensor->poison[i] + at, &word, 8);
      }
      expect(tensor->device->read(tensor->memory, tensor->places[i], tensor->part(tensor->earlier[i], i)));
      // A small output may happen to be what was drawn.
      const std::span<std::uint8_t> poison = tensor->part(tensor->poison[i], i);
      if (std::memcmp(poison.data(), tensor->earlier[i], poison.size()) == 0) poison[0] ^= 1;
      expect(tensor->device->write(tensor->memory, tensor->places[i], poison));
    }
  }
}

void FreshOutputs::inspect(std::size_t call, Samples& samples) {
  const bool is_repeatable = !accumulates(call);
  bool is_unwritten = false, is_changed = false;
  for (const auto& tensor : tensors_) {
    if (tensor->call != call) continue;
    for (std::size_t i = 0; i < tensor->blocks; ++i) {
      Line line;
      const std::span<std::uint8_t> now = tensor->part(line, i);
      expect(tensor->device->read(tensor->memory, tensor->places[i], now));
      if (std::memcmp(line, tensor->poison[i], now.size()) == 0) {
        is_unwritten = true;
      } else if (tensor->has_run && is_repeatable) {
        is_changed |= !is_same(tensor->dtype, now, tensor->earlier[i], rtol_);
      }
    }
    tensor->has_run = true;
  }
  samples.unwritten += is_unwritten;
  samples.changed += is_changed;
}

}  // namespace ferry::device
