// A straightforward product; `ferry compare mine.c mm.tc --size n=512` shows how much time it loses.
// ferry: mm(in f32[n,n] A, in f32[n,n] B, out f32[n,n] C)
#include <stdint.h>

void mm(const float* restrict A, const float* restrict B, float* restrict C, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) C[i * n + j] = 0;
    for (int64_t k = 0; k < n; ++k)
      for (int64_t j = 0; j < n; ++j) C[i * n + j] += A[i * n + k] * B[k * n + j];
  }
}
