/* mm(in f32[M, K] A, in f32[K, N] B, out f32[M, N] C, in f32[(max(N, 0) + 15) / 16, max(K, 0), 16] packed)
   args: A, C, packed, M, K, N
   call workspace: (M * K + 15) / 16 * 64 bytes */
int32_t ferry_fn_mm(void* const* args, const ferry_runtime_api* rt) {
  const float* restrict A = args[0];  /* [M, K] */
  float* restrict C = args[1];  /* [M, N] */
  const float* restrict packed = args[2];  /* [(max(N, 0) + 15) / 16, max(K, 0), 16] */
  const int64_t M = *(const int64_t*)args[3];
  const int64_t K = *(const int64_t*)args[4];
  const int64_t N = *(const int64_t*)args[5];
  char* const call_block = rt->workspace(rt, 0);
  float* const T = (float*)call_block;  /* [M, K] */
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t k = 0; k < K; ++k) {
      T[m * K + k] = A[m * K + k] * 2.0f;
    }
  }
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < N; ++n) {
      float C_acc = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        C_acc += T[m * K + k] * packed[n / 16 * 16 * K + k * 16 + n % 16];
      }
      C[m * N + n] = C_acc;
    }
  }
  return 0;
}

/* mm.init_plan(in f32[K, N] B, out f32[(max(N, 0) + 15) / 16, max(K, 0), 16] packed)
   args: B, packed, K, N */
int32_t ferry_init_mm(void* const* args, const ferry_runtime_api* rt) {
  (void)rt;
  const float* restrict B = args[0];  /* [K, N] */
  float* restrict packed = args[1];  /* [(max(N, 0) + 15) / 16, max(K, 0), 16] */
  const int64_t K = *(const int64_t*)args[2];
  const int64_t N = *(const int64_t*)args[3];
  for (int64_t i0 = 0; i0 < K; ++i0) {
    for (int64_t i1 = 0; i1 < N; ++i1) {
      packed[i1 / 16 * 16 * K + i0 * 16 + i1 % 16] = B[i0 * N + i1];
    }
  }
  return 0;
}
