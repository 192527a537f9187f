// The first GPU, as the peers' libraries need it: memory with random contents, a stream, and timing by the device's
// events.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_api.h"

namespace ferry::bench {

// The reason why a figure cannot be measured, as a sentence.
struct Missing : std::runtime_error {
  using runtime_error::runtime_error;
};

class Gpu {
 public:
  // Throws Missing if there is no driver or no GPU.
  Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  const device::CudaApi& api() const { return api_; }
  device::CuStream stream() const { return stream_; }
  std::string name() const;

  // The memory is freed with the Gpu, or earlier by release_all().
  device::CuDevicePointer floats(std::size_t count);  // random in [-1, 1)
  device::CuDevicePointer halves(std::size_t count);  // the same as float16
  device::CuDevicePointer bytes(std::size_t count);   // uninitialised
  void release_all();

  // Returns the median over many samples, in seconds per run. Each sample has enough runs to last a few milliseconds.
  double median_seconds(const std::function<void()>& enqueue);

  void check(const char* what, device::CuResult error) const;

 private:
  device::CudaApi api_;
  device::CuContext context_ = nullptr;
  device::CuStream stream_ = nullptr;
  device::CuEvent begin_ = nullptr, end_ = nullptr;
  std::vector<device::CuDevicePointer> blocks_;
};

// Load a library at run time and find a function in it; throw Missing if it does not exist.
void* load_library(const std::vector<std::string>& names);
void* load_symbol(void* library, const char* name);

}  // namespace ferry::bench
