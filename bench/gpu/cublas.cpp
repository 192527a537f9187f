#include "bench/gpu/cublas.h"

namespace ferry::bench {
namespace {

// cublasOperation_t, cudaDataType_t, cublasComputeType_t, cublasGemmAlgo_t, cublasMath_t
constexpr int kPlain = 0, kFloat32 = 0, kFloat16 = 2, kCompute32 = 68, kDefaultAlgorithm = -1, kDefaultMath = 0;

}  // namespace

Cublas::Cublas(Gpu& gpu) : gpu_(gpu) {
  void* library = load_library({"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"});
  const auto create = reinterpret_cast<int (*)(void**)>(load_symbol(library, "cublasCreate_v2"));
  const auto set_stream = reinterpret_cast<int (*)(void*, void*)>(load_symbol(library, "cublasSetStream_v2"));
  const auto set_math = reinterpret_cast<int (*)(void*, int)>(load_symbol(library, "cublasSetMathMode"));
  destroy_ = reinterpret_cast<decltype(destroy_)>(load_symbol(library, "cublasDestroy_v2"));
  gemm_ = reinterpret_cast<decltype(gemm_)>(load_symbol(library, "cublasGemmEx"));
  expect("cublasCreate", create(&handle_));
  expect("cublasSetStream", set_stream(handle_, gpu.stream()));
  expect("cublasSetMathMode", set_math(handle_, kDefaultMath));
}

Cublas::~Cublas() {
  if (handle_ != nullptr) destroy_(handle_);
}

void Cublas::expect(const char* what, int status) const {
  if (status != 0) throw Missing(std::string(what) + " of cuBLAS failed with status " + std::to_string(status));
}

double Cublas::sgemm(int n) {
  const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto a = gpu_.floats(count), b = gpu_.floats(count), c = gpu_.bytes(count * sizeof(float));
  const float one = 1, zero = 0;
  const auto place = [](device::CuDevicePointer address) { return reinterpret_cast<void*>(address); };
  const double seconds = gpu_.median_seconds([&] {
    expect("cublasGemmEx", gemm_(handle_, kPlain, kPlain, n, n, n, &one, place(a), kFloat32, n, place(b), kFloat32, n,
                                 &zero, place(c), kFloat32, n, kCompute32, kDefaultAlgorithm));
  });
  gpu_.release_all();
  return seconds;
}

double Cublas::hgemm(int n) {
  const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  const auto a = gpu_.halves(count), b = gpu_.halves(count), c = gpu_.bytes(count * sizeof(std::uint16_t));
  const float one = 1, zero = 0;
  const auto place = [](device::CuDevicePointer address) { return reinterpret_cast<void*>(address); };
  const double seconds = gpu_.median_seconds([&] {
    expect("cublasGemmEx", gemm_(handle_, kPlain, kPlain, n, n, n, &one, place(a), kFloat16, n, place(b), kFloat16, n,
                                 &zero, place(c), kFloat16, n, kCompute32, kDefaultAlgorithm));
  });
  gpu_.release_all();
  return seconds;
}

}  // namespace ferry::bench
