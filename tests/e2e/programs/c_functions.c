// C functions that programs call by name; they are compiled for every architecture and linked into the modules.
#include <stdint.h>

enum { kTile = 8 };

void gemm8x8_reset(float* c, int64_t ldc) {
  for (int64_t i = 0; i < kTile; ++i)
    for (int64_t j = 0; j < kTile; ++j) c[i * ldc + j] = 0;
}

void gemm8x8_update(float* c, const float* a, const float* b, int64_t ldc, int64_t lda, int64_t ldb) {
  for (int64_t i = 0; i < kTile; ++i)
    for (int64_t k = 0; k < kTile; ++k)
      for (int64_t j = 0; j < kTile; ++j) c[i * ldc + j] += a[i * lda + k] * b[k * ldb + j];
}

// Writes the running sum of each row, with each element weighted.
void running_sum(float* out, const float* in, int64_t rows, int64_t columns, float weight) {
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < columns; ++j) out[i * columns + j] = sum += weight * in[i * columns + j];
  }
}
