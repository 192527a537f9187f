#include "bench/gpu/null_call.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <vector>

#include "ferry/client.h"
#include "host/client/state.h"

namespace ferry::bench {
namespace {

constexpr int kCalls = 2000;

// The driver assembles it, so it runs on every GPU.
constexpr const char* kPtx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing()
{
  ret;
}
)";

double median_of_calls(const std::function<void()>& call) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < kCalls / 10; ++i) call();
  std::vector<double> seconds;
  for (int i = 0; i < kCalls; ++i) {
    const auto begin = Clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kCalls / 2, seconds.end());
  return seconds[kCalls / 2];
}

}  // namespace

double local_null_launch(Gpu& gpu) {
  const device::CudaApi& api = gpu.api();
  device::CuModule module = nullptr;
  device::CuFunction function = nullptr;
  gpu.check("cuModuleLoadDataEx", api.module_load(&module, kPtx, 0, nullptr, nullptr));
  gpu.check("cuModuleGetFunction", api.module_function(&function, module, "nothing"));
  const double seconds = median_of_calls([&] {
    gpu.check("cuLaunchKernel", api.launch(function, 1, 1, 1, 1, 1, 1, 0, gpu.stream(), nullptr, nullptr));
    gpu.check("cuStreamSynchronize", api.stream_wait(gpu.stream()));
  });
  api.module_unload(module);
  return seconds;
}

NullCall null_call(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Missing("cannot read " + file);
  const CompiledModule compiled({std::istreambuf_iterator<char>(stream), {}});
  ConnectOptions options;
  options.devices = {"cuda"};
  const Device device = local_device(options);
  const Module module = device.load(compiled);
  const Function function = module[compiled.manifest().functions.front().name];
  const DeviceTensor in = device.filled(DType::f32, {1}, FillKind::ones), out = device.empty(DType::f32, {1});
  session::Client& client = *device.state()->client;
  NullCall result;
  result.ping = median_of_calls([&] { client.call(rpc::Ping{}); });
  result.call = median_of_calls([&] { function.call({in, out}); });
  return result;
}

}  // namespace ferry::bench
