#include "bench/gpu/cudnn.h"

#include <algorithm>
#include <optional>

namespace ferry::bench {
namespace {

// cudnnDataType_t, cudnnTensorFormat_t, cudnnConvolutionMode_t, cudnnMathType_t, cudnnConvolutionFwdAlgo_t
constexpr int kFloat = 0, kNchw = 0, kCrossCorrelation = 1, kFmaMath = 3, kAlgorithms = 8;

using Opaque = void*;

class Cudnn {
 public:
  explicit Cudnn(Gpu& gpu) : library_(load_library({"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"})) {
    call("cudnnCreate", &handle_);
    call("cudnnSetStream", handle_, static_cast<Opaque>(gpu.stream()));
  }
  Opaque handle() const { return handle_; }

  template <class... Arguments>
  int status_of(const char* name, Arguments... arguments) const {
    return reinterpret_cast<int (*)(Arguments...)>(load_symbol(library_, name))(arguments...);
  }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    if (const int status = status_of(name, arguments...); status != 0)
      throw Missing(std::string(name) + " failed with status " + std::to_string(status));
  }

 private:
  void* library_;
  Opaque handle_ = nullptr;
};

std::size_t product(int a, int b, int c, int d) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c) *
         static_cast<std::size_t>(d);
}

}  // namespace

double cudnn_convolution(Gpu& gpu, const ConvolutionShape& s) {
  const Cudnn dnn(gpu);
  const int height = s.height + 2 * s.padding - s.size + 1, width = s.width + 2 * s.padding - s.size + 1;
  Opaque x = nullptr, y = nullptr, w = nullptr, convolution = nullptr;
  dnn.call("cudnnCreateTensorDescriptor", &x);
  dnn.call("cudnnCreateTensorDescriptor", &y);
  dnn.call("cudnnCreateFilterDescriptor", &w);
  dnn.call("cudnnCreateConvolutionDescriptor", &convolution);
  dnn.call("cudnnSetTensor4dDescriptor", x, kNchw, kFloat, s.batch, s.channels, s.height, s.width);
  dnn.call("cudnnSetTensor4dDescriptor", y, kNchw, kFloat, s.batch, s.filters, height, width);
  dnn.call("cudnnSetFilter4dDescriptor", w, kFloat, kNchw, s.filters, s.channels, s.size, s.size);
  dnn.call("cudnnSetConvolution2dDescriptor", convolution, s.padding, s.padding, 1, 1, 1, 1, kCrossCorrelation, kFloat);
  dnn.call("cudnnSetConvolutionMathType", convolution, kFmaMath);
  const auto place = [](device::CuDevicePointer address) { return reinterpret_cast<Opaque>(address); };
  const Opaque in = place(gpu.floats(product(s.batch, s.channels, s.height, s.width)));
  const Opaque weights = place(gpu.floats(product(s.filters, s.channels, s.size, s.size)));
  const Opaque out = place(gpu.bytes(sizeof(float) * product(s.batch, s.filters, height, width)));
  const float one = 1, zero = 0;
  std::optional<double> best;
  for (int algorithm = 0; algorithm < kAlgorithms; ++algorithm) {
    std::size_t bytes = 0;
    if (dnn.status_of("cudnnGetConvolutionForwardWorkspaceSize", dnn.handle(), x, w, convolution, y, algorithm,
                      &bytes) != 0) {
      continue;
    }
    const Opaque workspace = bytes == 0 ? nullptr : place(gpu.bytes(bytes));
    const auto run = [&] {
      return dnn.status_of("cudnnConvolutionForward", dnn.handle(), static_cast<const void*>(&one), x, in, w, weights,
                           convolution, algorithm, workspace, bytes, static_cast<const void*>(&zero), y, out);
    };
    if (run() != 0) continue;
    const double seconds = gpu.median_seconds([&] { run(); });
    best = std::min(best.value_or(seconds), seconds);
  }
  gpu.release_all();
  if (!best) throw Missing("cuDNN has no algorithm for this convolution");
  return *best;
}

}  // namespace ferry::bench
