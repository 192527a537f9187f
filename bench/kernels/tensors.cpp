#include "bench/kernels/tensors.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include "bench/kernels/blocked.h"
#include "ferry/fill.h"

namespace ferry::bench {

void Tensors::FreeMemory::operator()(void* memory) const { std::free(memory); }

void* Tensors::take(std::uint64_t bytes) {
  void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (memory == nullptr) throw std::bad_alloc();
  owned_.emplace_back(memory);
  std::memset(memory, 0, bytes);
  return memory;
}

Tensors::Tensors(const FerryKernel& kernel, const Request& request) : request_(request) {
  const auto& parameters = kernel.info().parameters;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::uint64_t elements = 1;
    for (const std::int64_t size : kernel.shapes()[p]) elements *= static_cast<std::uint64_t>(size);
    void* memory = take(elements * dtype_bytes(parameters[p].dtype));
    ferry_.push_back(memory);
    if (p + 1 == parameters.size()) {
      result_elements_ = static_cast<std::int64_t>(elements);
      result_bytes_ = elements * dtype_bytes(parameters[p].dtype);
      continue;
    }
    fill(FillKind::random, p + 1, parameters[p].dtype, 0, elements, memory);
    if (parameters[p].name == "variance") {
      for (std::uint64_t i = 0; i < elements; ++i) {
        float& value = static_cast<float*>(memory)[i];
        value = std::abs(value) + 0.5F;
      }
    }
    plain_.push_back(memory);
  }
  if (request.blocked) block_inputs();
}

void Tensors::block_inputs() {
  const Operation& o = request_.operation;
  const std::int64_t pixels = o.size * o.size;
  auto* image = static_cast<float*>(take(static_cast<std::uint64_t>(o.channels * pixels) * sizeof(float)));
  block_image(static_cast<const float*>(plain_[0]), image, o.channels, pixels);
  ferry_[0] = image;
  if (o.winograd_tile != 0) return;
  auto* filter = static_cast<float*>(take(static_cast<std::uint64_t>(o.filters * o.channels * 9) * sizeof(float)));
  block_filter(static_cast<const float*>(plain_[1]), filter, o.filters, o.channels, 9);
  ferry_[1] = filter;
}

std::vector<void*> Tensors::for_ferry() const { return ferry_; }

std::vector<std::uint8_t> Tensors::ferry_result() const {
  std::vector<std::uint8_t> result(result_bytes_);
  if (request_.blocked) {
    const Operation& o = request_.operation;
    unblock_image(static_cast<const float*>(ferry_.back()), reinterpret_cast<float*>(result.data()), o.filters,
                  o.size * o.size);
  } else {
    std::memcpy(result.data(), ferry_.back(), result.size());
  }
  return result;
}

}  // namespace ferry::bench
