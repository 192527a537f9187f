#include "bench/gpu/gpu.h"

#include <dlfcn.h>

#include <algorithm>
#include <random>

#include "ferry/fill.h"
#include "ferry/types.h"

namespace ferry::bench {
namespace {

using namespace device;

constexpr Drivers kDrivers = {[](const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL); }, dlsym};
constexpr double kSampleSeconds = 5e-3;
constexpr int kSamples = 30, kMostRuns = 10'000;
constexpr int kMaxName = 128;

}  // namespace

Gpu::Gpu() {
  Result<CudaApi> loaded = load_cuda(kDrivers);
  if (!loaded.is_ok()) throw Missing(loaded.status().message());
  api_ = loaded.value();
  CuDevice first = 0;
  check("cuDeviceGet", api_.device_get(&first, 0));
  check("cuDevicePrimaryCtxRetain", api_.context_retain(&context_, first));
  check("cuCtxSetCurrent", api_.context_use(context_));
  check("cuStreamCreate", api_.stream_create(&stream_, kCuStreamNonBlocking));
  check("cuEventCreate", api_.event_create(&begin_, kCuEventDefault));
  check("cuEventCreate", api_.event_create(&end_, kCuEventDefault));
}

Gpu::~Gpu() {
  release_all();
  api_.event_destroy(begin_);
  api_.event_destroy(end_);
  api_.stream_destroy(stream_);
  api_.context_release(0);
}

std::string Gpu::name() const {
  char text[kMaxName] = {};
  api_.device_name(text, kMaxName - 1, 0);
  return text;
}

void Gpu::check(const char* what, CuResult error) const {
  if (error != kCuSuccess) throw Missing(std::string(what) + ": " + cuda_error_text(api_, error));
}

CuDevicePointer Gpu::bytes(std::size_t count) {
  CuDevicePointer memory = 0;
  check("cuMemAlloc", api_.memory_take(&memory, count));
  blocks_.push_back(memory);
  return memory;
}

CuDevicePointer Gpu::floats(std::size_t count) {
  std::vector<float> values(count);
  fill(FillKind::random, std::random_device()(), DType::f32, 0, count, values.data());
  const CuDevicePointer memory = bytes(count * sizeof(float));
  check("cuMemcpyHtoD", api_.copy_to_device(memory, values.data(), count * sizeof(float), stream_));
  check("cuStreamSynchronize", api_.stream_wait(stream_));
  return memory;
}

CuDevicePointer Gpu::halves(std::size_t count) {
  std::vector<std::uint16_t> values(count);
  fill(FillKind::random, std::random_device()(), DType::f16, 0, count, values.data());
  const CuDevicePointer memory = bytes(count * sizeof(std::uint16_t));
  check("cuMemcpyHtoD", api_.copy_to_device(memory, values.data(), count * sizeof(std::uint16_t), stream_));
  check("cuStreamSynchronize", api_.stream_wait(stream_));
  return memory;
}

void Gpu::release_all() {
  api_.stream_wait(stream_);
  for (const CuDevicePointer block : blocks_) api_.memory_free(block);
  blocks_.clear();
}

double Gpu::median_seconds(const std::function<void()>& enqueue) {
  const auto sample = [&](int runs) {
    check("cuEventRecord", api_.event_record(begin_, stream_));
    for (int i = 0; i < runs; ++i) enqueue();
    check("cuEventRecord", api_.event_record(end_, stream_));
    check("cuEventSynchronize", api_.event_wait(end_));
    float milliseconds = 0;
    check("cuEventElapsedTime", api_.event_elapsed(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds) * 1e-3 / runs;
  };
  sample(3);
  const double once = std::max(sample(3), 1e-7);
  const int runs = static_cast<int>(std::clamp(kSampleSeconds / once, 1.0, static_cast<double>(kMostRuns)));
  std::vector<double> seconds;
  for (int i = 0; i < kSamples; ++i) seconds.push_back(sample(runs));
  std::nth_element(seconds.begin(), seconds.begin() + kSamples / 2, seconds.end());
  return seconds[kSamples / 2];
}

void* load_library(const std::vector<std::string>& names) {
  std::string tried;
  for (const std::string& name : names) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  throw Missing("none of " + tried + " is here (LD_LIBRARY_PATH may say where)");
}

void* load_symbol(void* library, const char* name) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr) throw Missing(std::string("the library has no ") + name);
  return symbol;
}

}  // namespace ferry::bench
