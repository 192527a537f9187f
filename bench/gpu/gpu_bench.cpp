// Measures what a GPU and NVIDIA's libraries on it reach: the bandwidth of copies, the cost of an empty launch, cuBLAS
// and cuDNN.
//
//   gpu_bench [--null MODULE.ferry] [--json FILE]
//
// Prints one line per figure, "NAME VALUE UNIT", and the reason for each figure that cannot be measured. Exits with 1
// without a GPU.
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/gpu/cublas.h"
#include "bench/gpu/cudnn.h"
#include "bench/gpu/null_call.h"

namespace ferry::bench {
namespace {

class Figures {
 public:
  explicit Figures(const std::string& device) : json_{{"device", device}, {"figures", nlohmann::json::array()}} {}

  void take(const char* name, const char* unit, const std::function<double()>& measure) {
    try {
      const double value = measure();
      printf("%s %.6g %s\n", name, value, unit);
      json_["figures"].push_back({{"name", name}, {"value", value}, {"unit", unit}});
    } catch (const std::exception& error) {
      printf("%s missing: %s\n", name, error.what());
      json_["figures"].push_back({{"name", name}, {"missing", error.what()}});
    }
    fflush(stdout);
  }
  const nlohmann::json& json() const { return json_; }

 private:
  nlohmann::json json_;
};

// Returns bytes per second, counting both those read and those written.
double copy_bandwidth(Gpu& gpu) {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  const auto from = gpu.bytes(kBytes), to = gpu.bytes(kBytes);
  const double seconds =
      gpu.median_seconds([&] { gpu.check("cuMemcpyDtoD", gpu.api().copy_on_device(to, from, kBytes, gpu.stream())); });
  gpu.release_all();
  return 2.0 * static_cast<double>(kBytes) / seconds;
}

double cube(int n) { return 2.0 * n * n * n; }

int measure_all(const std::string& null_module, const std::string& json_file) {
  Gpu gpu;
  printf("device %s\n", gpu.name().c_str());
  Figures figures(gpu.name());
  figures.take("copy", "GB/s", [&] { return copy_bandwidth(gpu) * 1e-9; });
  figures.take("local_null_launch", "us", [&] { return local_null_launch(gpu) * 1e6; });
  if (!null_module.empty()) {
    NullCall null;
    figures.take("null_call", "us", [&] { return (null = null_call(null_module)).call * 1e6; });
    if (null.ping > 0) figures.take("null_rpc", "us", [&] { return null.ping * 1e6; });
  }
  for (const int n : {4096, 8192}) {
    const std::string size = "_" + std::to_string(n);
    figures.take(("cublas_sgemm" + size).c_str(), "TFLOP/s", [&] { return cube(n) / Cublas(gpu).sgemm(n) * 1e-12; });
    figures.take(("cublas_hgemm" + size).c_str(), "TFLOP/s", [&] { return cube(n) / Cublas(gpu).hgemm(n) * 1e-12; });
  }
  // The 3 x 3 convolutions of ResNet-18's stages with stride 1.
  for (const auto& [channels, size] : {std::pair(64, 56), std::pair(128, 28), std::pair(256, 14), std::pair(512, 7)}) {
    const double flops = 2.0 * 32 * channels * size * size * channels * 9;
    figures.take(("cudnn_resnet_" + std::to_string(channels)).c_str(), "TFLOP/s",
                 [&] { return flops / cudnn_convolution(gpu, {32, channels, size, size, channels, 3, 1}) * 1e-12; });
  }
  if (json_file.empty()) return 0;
  FILE* file = fopen(json_file.c_str(), "w");
  const std::string text = figures.json().dump(2) + "\n";
  const bool written = file != nullptr && fputs(text.c_str(), file) >= 0;
  if (file == nullptr || fclose(file) != 0 || !written) {
    fprintf(stderr, "gpu_bench: cannot write '%s'\n", json_file.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ferry::bench

int main(int count, char** words) {
  std::string null_module, json_file;
  for (int i = 1; i < count; ++i) {
    std::string* value = strcmp(words[i], "--null") == 0   ? &null_module
                         : strcmp(words[i], "--json") == 0 ? &json_file
                                                           : nullptr;
    if (value == nullptr || i + 1 == count) {
      fprintf(stderr, "usage: gpu_bench [--null MODULE.ferry] [--json FILE]\n");
      return 2;
    }
    *value = words[++i];
  }
  try {
    return ferry::bench::measure_all(null_module, json_file);
  } catch (const std::exception& error) {
    fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
