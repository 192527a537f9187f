static inline int32_t floor_div_i32(int32_t a, int32_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int32_t)(0 - (uint32_t)a);
  return (int32_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

/* f(in i32[N] A, in i8[N] B, in u16[N] U, out i32[N] C, out u16[N] D, out i8[N] E)
   args: A, B, U, C, D, E, N */
int32_t ferry_fn_f(void* const* args, const ferry_runtime_api* rt) {
  (void)rt;
  const int32_t* restrict A = args[0];  /* [N] */
  const int8_t* restrict B = args[1];  /* [N] */
  const uint16_t* restrict U = args[2];  /* [N] */
  int32_t* restrict C = args[3];  /* [N] */
  uint16_t* restrict D = args[4];  /* [N] */
  int8_t* restrict E = args[5];  /* [N] */
  const int64_t N = *(const int64_t*)args[6];
  for (int64_t i = 0; i < N; ++i) {
    C[i] = (int32_t)((uint32_t)A[i] * (uint32_t)A[i] + (uint32_t)floor_div_i32((int32_t)B[i], 3));
  }
  for (int64_t i = 0; i < N; ++i) {
    D[i] = (uint16_t)((uint16_t)((uint32_t)U[i] * (uint32_t)U[i]) - U[i]);
  }
  for (int64_t i = 0; i < N; ++i) {
    E[i] = (int8_t)((int8_t)(B[i] * B[i]) + (int8_t)(A[i] >> 5));
  }
  return 0;
}
