// The first GPU, as the peers' libraries want it: memory with random contents, a stream, and times of its own events.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_api.h"

namespace ferry::bench {

// What keeps a figure from being taken, in a sentence.
struct Missing : std::runtime_error {
  using runtime_error::runtime_error;
};

class Gpu {
 public:
  // Missing without a driver or GPU.
  Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  const device::CudaApi& api() const { return api_; }
  device::CuStream stream() const { return stream_; }
  std::string name() const;

  // Freed with the Gpu; release_all() earlier.
  device::CuDevicePointer floats(std::size_t count);  // random in [-1, 1)
  device::CuDevicePointer halves(std::size_t count);  // the same as float16
  device::CuDevicePointer bytes(std::size_t count);   // as they are
  void release_all();

  // The median of many samples, each of so many runs that it lasts a few milliseconds; seconds a run.
  double median_seconds(const std::function<void()>& enqueue);

  void check(const char* what, device::CuResult error) const;

 private:
  device::CudaApi api_;
  device::CuContext context_ = nullptr;
  device::CuStream stream_ = nullptr;
  device::CuEvent begin_ = nullptr, end_ = nullptr;
  std::vector<device::CuDevicePointer> blocks_;
};

// A function of a library that is loaded while the program runs; Missing when it does not have it.
void* load_library(const std::vector<std::string>& names);
void* load_symbol(void* library, const char* name);

}  // namespace ferry::bench
