#include "device-runtime/handlers/fresh_outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "module/element_difference.h"

namespace ferry::device {
namespace {

// Each access to a GPU's memory takes microseconds.
constexpr std::size_t kGpuBlocks = 8;

// Fewer bytes are what a call computes by chance too often.
constexpr std::size_t kLeastPoison = 4;

// All elements are compared in pieces of so many bytes.
constexpr std::size_t kPiece = 4096;

// Whether two blocks have the same values. Rounding may differ by as much as `rtol` allows, relative to the largest
// value of the block.
bool is_same(DType dtype, std::span<const std::uint8_t> now, const std::uint8_t* earlier, double rtol) {
  if (std::memcmp(now.data(), earlier, now.size()) == 0) return true;
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
    auto tensor = std::make_unique<Tensor>(call, i, device, memory, bytes, parameter.dtype);
    if (parameter.direction == Direction::inout) {
      FERRY_ASSIGN(tensor->kept, Buffer::allocate(*device, bytes));
      FERRY_TRY(device->copy(tensor->kept->memory(), 0, memory, 0, bytes));
    }
    if (parameter.strides.empty()) {  // what lies between strided elements stays as it is
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

void FreshOutputs::choose_places(Tensor& tensor, std::span<const double> aims) {
  const std::uint64_t lines = (tensor.bytes + kBlock - 1) / kBlock;
  for (std::size_t i = 0; i < tensor.blocks; ++i) {
    // One line in each of about equal parts.
    const std::uint64_t begin = lines * i / tensor.blocks, end = lines * (i + 1) / tensor.blocks;
    std::uint64_t line = begin + random_.below(end - begin);
    if (!aims.empty() && i % 2 == 0) {
      const double aim = aims[random_.below(aims.size())];
      line = std::min(static_cast<std::uint64_t>(aim * static_cast<double>(lines)), lines - 1);
    }
    tensor.places[i] = line * kBlock;
  }
  // No line twice: it would be found with other bytes than those that were written there first.
  std::ranges::sort(std::span(tensor.places, tensor.blocks));
  const auto repeated = std::ranges::unique(std::span(tensor.places, tensor.blocks));
  tensor.used = tensor.blocks - repeated.size();
  for (std::size_t i = 0; i < tensor.used; ++i) {
    const bool is_drawn = aims.empty() || tensor.used == 1 || random_.below(4) != 0;
    tensor.is_poisoned[i] =
        tensor.kept == nullptr && is_drawn && tensor.part(tensor.poison[i], i).size() >= kLeastPoison;
  }
}

void FreshOutputs::write_poison(Tensor& tensor, std::size_t block) {
  for (std::size_t at = 0; at < kBlock; at += 8) {
    const std::uint64_t word = random_.next();
    std::memcpy(tensor.poison[block] + at, &word, 8);
  }
  expect(tensor.device->read(tensor.memory, tensor.places[block], tensor.part(tensor.earlier[block], block)));
  // A small output may happen to be what was drawn.
  const std::span<std::uint8_t> poison = tensor.part(tensor.poison[block], block);
  if (std::memcmp(poison.data(), tensor.earlier[block], poison.size()) == 0) poison[0] ^= 1;
  expect(tensor.device->write(tensor.memory, tensor.places[block], poison));
}

void FreshOutputs::prepare(std::size_t call, std::span<const double> aims) {
  for (const auto& tensor : tensors_) {
    if (tensor->call != call) continue;
    if (tensor->kept != nullptr)
      expect(tensor->device->copy(tensor->memory, 0, tensor->kept->memory(), 0, tensor->bytes));
    choose_places(*tensor, aims);
    for (std::size_t i = 0; i < tensor->used; ++i)
      if (tensor->is_poisoned[i]) write_poison(*tensor, i);
  }
}

bool FreshOutputs::were_written(std::size_t call) {
  bool are_all = true;
  for (const auto& tensor : tensors_) {
    if (tensor->call != call) continue;
    for (std::size_t i = 0; i < tensor->used; ++i) {
      const std::span<std::uint8_t> now = tensor->part(tensor->now[i], i);
      expect(tensor->device->read(tensor->memory, tensor->places[i], now));
      if (tensor->is_poisoned[i] && std::memcmp(now.data(), tensor->poison[i], now.size()) == 0) are_all = false;
    }
  }
  return are_all;
}

bool FreshOutputs::are_equal(std::size_t call, std::span<const DeviceArgument> elsewhere, bool whole) const {
  for (const auto& tensor : tensors_) {
    if (tensor->call != call) continue;
    const auto* other = static_cast<const std::uint8_t*>(elsewhere[tensor->parameter].memory);
    for (std::size_t i = 0; i < tensor->used; ++i) {
      if (!is_same(tensor->dtype, tensor->part(tensor->now[i], i), other + tensor->places[i], rtol_)) return false;
    }
    const auto* all = static_cast<const std::uint8_t*>(tensor->memory);
    for (std::uint64_t at = 0; whole && at < tensor->bytes; at += kPiece) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, tensor->bytes - at));
      if (!is_same(tensor->dtype, {all + at, size}, other + at, rtol_)) return false;
    }
  }
  return true;
}

void FreshOutputs::inspect(std::size_t call, Samples& samples) {
  const bool is_repeatable = !accumulates(call);
  if (!were_written(call)) ++samples.unwritten;
  bool is_changed = false;
  for (const auto& tensor : tensors_) {
    if (tensor->call != call) continue;
    for (std::size_t i = 0; i < tensor->used && tensor->has_run && is_repeatable; ++i) {
      const std::span<std::uint8_t> now = tensor->part(tensor->now[i], i);
      const bool is_written = std::memcmp(now.data(), tensor->poison[i], now.size()) != 0;
      is_changed |= is_written && !is_same(tensor->dtype, now, tensor->earlier[i], rtol_);
    }
    tensor->has_run = true;
  }
  samples.changed += is_changed;
}

}  // namespace ferry::device
