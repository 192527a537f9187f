#include "bench/kernels/peers/blas.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace ferry::bench {
namespace {

constexpr int kRowMajor = 101, kNoTranspose = 111;
constexpr std::int64_t kLowAccuracy = 1;  // VML_LA

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using Bf16Gemm = void (*)(int, int, int, int, int, int, float, const std::uint16_t*, int, const std::uint16_t*, int,
                          float, float*, int);
using VectorMath = void (*)(int, const float*, float*, std::int64_t);

void* open_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return library;
}

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

class CallKernel final : public PeerKernel {
 public:
  CallKernel(std::size_t elements, std::function<void(float*)> call) : result_(elements), call_(std::move(call)) {}
  void run() override { call_(result_.data()); }
  void copy_result(void* into) override { std::memcpy(into, result_.data(), result_.size() * sizeof(float)); }

 private:
  std::vector<float> result_;
  std::function<void(float*)> call_;
};

std::unique_ptr<PeerKernel> single_gemm(Sgemm sgemm, const Operation& o, const std::vector<const void*>& inputs) {
  const int m = static_cast<int>(o.m), n = static_cast<int>(o.n), k = static_cast<int>(o.k);
  const auto* a = static_cast<const float*>(inputs[0]);
  const auto* b = static_cast<const float*>(inputs[1]);
  return std::make_unique<CallKernel>(static_cast<std::size_t>(o.m * o.n), [=](float* c) {
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
  });
}

class OpenBlas final : public Peer {
 public:
  explicit OpenBlas(void* library) : library_(library), sgemm_(find<Sgemm>(library, "cblas_sgemm")) {
    if (sgemm_ == nullptr) throw std::runtime_error(dlerror());
    if (const auto limit = find<void (*)(int)>(library, "openblas_set_num_threads")) limit(1);
  }
  std::string name() const override {
    const auto config = find<const char* (*)()>(library_, "openblas_get_config");
    const std::string text = config == nullptr ? "OpenBLAS" : config();
    return text.substr(0, text.find(' ', text.find(' ') + 1));
  }
  std::string instructions() const override {
    const auto core = find<const char* (*)()>(library_, "openblas_get_corename");
    return core == nullptr ? "unknown" : core();
  }
  std::unique_ptr<PeerKernel> prepare(const Operation& o, const std::vector<const void*>& inputs) override {
    if (o.kind != OperationKind::gemm || o.numbers != Numbers::f32) return nullptr;
    return single_gemm(sgemm_, o, inputs);
  }

 private:
  void* library_;
  Sgemm sgemm_;
};

class Mkl final : public Peer {
 public:
  explicit Mkl(void* library) : library_(library), sgemm_(find<Sgemm>(library, "cblas_sgemm")) {
    if (sgemm_ == nullptr) throw std::runtime_error(dlerror());
    // This call makes MKL load the code for this processor, which instructions() looks for.
    const float one = 1;
    float result = 0;
    sgemm_(kRowMajor, kNoTranspose, kNoTranspose, 1, 1, 1, 1.0F, &one, 1, &one, 1, 0.0F, &result, 1);
  }
  std::string name() const override {
    char text[256] = "";
    if (const auto version = find<void (*)(char*, int)>(library_, "mkl_get_version_string")) {
      version(text, sizeof text);
    }
    const std::string full = text;
    const std::size_t number = full.find("Version ");
    if (number == std::string::npos) return "MKL";
    return "MKL " + full.substr(number + 8, full.find_first_of("- ", number + 8) - number - 8);
  }
  // MKL loads the part with the code for an instruction set when it is first needed.
  std::string instructions() const override {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      for (const char* part : {"libmkl_avx512", "libmkl_avx10", "libmkl_avx2", "libmkl_mc3", "libmkl_def"}) {
        if (line.find(std::string("/") + part) != std::string::npos) return part + std::strlen("libmkl_");
      }
    }
    return "unknown";
  }
  std::unique_ptr<PeerKernel> prepare(const Operation& o, const std::vector<const void*>& inputs) override {
    switch (o.kind) {
      case OperationKind::gemm: return gemm(o, inputs);
      case OperationKind::exponential: return vector_math("vmsExp", o, inputs);
      case OperationKind::tangent: return vector_math("vmsTanh", o, inputs);
      case OperationKind::convolution:
      case OperationKind::depthwise:
      case OperationKind::softmax:
      case OperationKind::layer_norm:
      case OperationKind::sigmoid:
      case OperationKind::add:
      case OperationKind::broadcast_add:
      case OperationKind::batch_norm_relu:
      case OperationKind::max_pool: break;
    }
    return nullptr;
  }

 private:
  std::unique_ptr<PeerKernel> gemm(const Operation& o, const std::vector<const void*>& inputs) const {
    if (o.numbers == Numbers::f32) return single_gemm(sgemm_, o, inputs);
    const auto gemm = find<Bf16Gemm>(library_, "cblas_gemm_bf16bf16f32");
    if (o.numbers != Numbers::bf16 || gemm == nullptr) return nullptr;
    const int m = static_cast<int>(o.m), n = static_cast<int>(o.n), k = static_cast<int>(o.k);
    const auto* a = static_cast<const std::uint16_t*>(inputs[0]);
    const auto* b = static_cast<const std::uint16_t*>(inputs[1]);
    return std::make_unique<CallKernel>(static_cast<std::size_t>(o.m * o.n), [=](float* c) {
      gemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1.0F, a, k, b, n, 0.0F, c, n);
    });
  }

  std::unique_ptr<PeerKernel> vector_math(const char* name, const Operation& o,
                                          const std::vector<const void*>& inputs) const {
    const auto function = find<VectorMath>(library_, name);
    if (function == nullptr) return nullptr;
    const int n = static_cast<int>(o.n);
    const auto* x = static_cast<const float*>(inputs[0]);
    return std::make_unique<CallKernel>(static_cast<std::size_t>(o.n),
                                        [=](float* y) { function(n, x, y, kLowAccuracy); });
  }

  void* library_;
  Sgemm sgemm_;
};

}  // namespace

std::unique_ptr<Peer> load_openblas() {
  // OpenBLAS's own detection takes newer processors for old ones.
  setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  return std::make_unique<OpenBlas>(open_library("libopenblas.so.0"));
}

std::unique_ptr<Peer> load_mkl() {
  setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
  return std::make_unique<Mkl>(open_library(FERRY_BENCH_PACKAGES "/mkl/lib/libmkl_rt.so.3"));
}

}  // namespace ferry::bench
