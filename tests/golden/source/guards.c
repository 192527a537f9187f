/* pad(in f32[N, M] A, out f32[N + 2, M + 2] B)
   args: A, B, N, M */
int32_t ferry_fn_pad(void* const* args, const ferry_runtime_api* rt) {
  (void)rt;
  const float* restrict A = args[0];  /* [N, M] */
  float* restrict B = args[1];  /* [N + 2, M + 2] */
  const int64_t N = *(const int64_t*)args[2];
  const int64_t M = *(const int64_t*)args[3];
  for (int64_t i = 0; i < N + 2; ++i) {
    for (int64_t j_outer = 0; j_outer < (M + 9) / 8; ++j_outer) {
      /* vectorized */
      for (int64_t j_inner = 0; j_inner < 8; ++j_inner) {
        if (j_outer * 8 + j_inner < M + 2) {
          B[i * (M + 2) + j_outer * 8 + j_inner] = i >= 1 && i <= N && j_outer * 8 + j_inner >= 1 && j_outer * 8 + j_inner <= M ? A[(i - 1) * M + j_outer * 8 + j_inner - 1] : 0.0f;
        }
      }
    }
  }
  return 0;
}
