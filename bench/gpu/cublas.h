// cuBLAS (NVIDIA, "cuBLAS Library"), loaded at run time.
#pragma once

#include "bench/gpu/gpu.h"

namespace ferry::bench {

class Cublas {
 public:
  // Throws Missing if the library is not installed.
  explicit Cublas(Gpu& gpu);
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas();

  // Return the seconds of a product of two n x n matrices: float32 without TF32, or float16 accumulated in float32.
  double sgemm(int n);
  double hgemm(int n);

 private:
  void expect(const char* what, int status) const;

  Gpu& gpu_;
  void* handle_ = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*gemm_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int, const void*,
               void*, int, int, int, int) = nullptr;
};

}  // namespace ferry::bench
