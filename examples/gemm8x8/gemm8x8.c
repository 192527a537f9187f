// A micro-kernel on 8 x 8 tiles of larger matrices of floats, whose rows are ldc, lda and ldb elements apart.
#include <stdint.h>

void gemm8x8_reset(float* c, int64_t ldc) {
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 8; ++j) c[i * ldc + j] = 0;
}

void gemm8x8_update(float* restrict c, const float* a, const float* b, int64_t ldc, int64_t lda, int64_t ldb) {
  for (int64_t i = 0; i < 8; ++i) {
    float sums[8];
    for (int64_t j = 0; j < 8; ++j) sums[j] = c[i * ldc + j];
    for (int64_t k = 0; k < 8; ++k)
      for (int64_t j = 0; j < 8; ++j) sums[j] += a[i * lda + k] * b[k * ldb + j];
    for (int64_t j = 0; j < 8; ++j) c[i * ldc + j] = sums[j];
  }
}
