// Products by OpenBLAS:
//
//     openblas FUNCTION SIZE...        (the functions of kernels.tc, and the sizes in the order of cases.py)
#include "bench/boards/peers/peer.h"

enum { kRowMajor = 101, kNotTransposed = 111 };
void cblas_sgemm(int order, int a, int b, int m, int n, int k, float alpha, const float* A, int lda, const float* B,
                 int ldb, float beta, float* C, int ldc);
void cblas_sgemv(int order, int a, int m, int n, float alpha, const float* A, int lda, const float* x, int incx,
                 float beta, float* y, int incy);

static int32_t product(int M, int N, int K, const float* A, const float* B, float* C) {
  cblas_sgemm(kRowMajor, kNotTransposed, kNotTransposed, M, N, K, 1, A, K, B, N, 0, C, N);
  return 0;
}

static int32_t matrix_vector(int M, int K, const float* A, const float* x, float* y) {
  cblas_sgemv(kRowMajor, kNotTransposed, M, K, 1, A, K, x, 1, 0, y, 1);
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  fill_pools();
  const int s = size(argc, argv, 2), t = size(argc, argv, 3), u = size(argc, argv, 4);
  const int is_product = strcmp(argv[1], "product") == 0;
  float *A = floats(s * (is_product ? u : t)), *B = floats(t * (is_product ? u : 1)), *C = floats(s * t);
  // The first call allocates memory.
  for (int i = 0; i < 2; ++i) count_call(is_product ? product(s, t, u, A, B, C) : matrix_vector(s, t, A, B, C));
  return 0;
}
