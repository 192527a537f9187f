static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t floor_div_i64(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  return (int64_t)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

struct ferry_fn_mm_mo_closure {
  const float* A;
  const float* B;
  float* C;
  int64_t N;
  int64_t K;
  int64_t M;
};

static int32_t ferry_fn_mm_mo(int64_t begin, int64_t end, void* closure) {
  const struct ferry_fn_mm_mo_closure* const from = closure;
  const float* restrict A = from->A;
  const float* restrict B = from->B;
  float* restrict C = from->C;
  const int64_t N = from->N;
  const int64_t K = from->K;
  const int64_t M = from->M;
  for (int64_t mo = begin; mo < end; ++mo) {
    for (int64_t no = 0; no < (N + 7) / 8; ++no) {
      float sums[32];  /* [4, 8] */
      {
        float sums_acc[32];  /* [4, 8] */
        /* unrolled */
        for (int64_t m = 0; m < 4; ++m) {
          /* vectorized */
          for (int64_t n = 0; n < 8; ++n) {
            sums_acc[m * 8 + n] = 0.0f;
          }
        }
        for (int64_t k = 0; k < K; ++k) {
          /* unrolled */
          for (int64_t m = 0; m < 4; ++m) {
            /* vectorized */
            for (int64_t n = 0; n < 8; ++n) {
              if (mo * 4 + m < M) {
                sums_acc[m * 8 + n] += A[(mo * 4 + m) * K + k] * (no * 8 + n < N ? B[k * N + no * 8 + n] : 0.0f);
              }
            }
          }
        }
        /* unrolled */
        for (int64_t m = 0; m < 4; ++m) {
          /* vectorized */
          for (int64_t n = 0; n < 8; ++n) {
            if (mo * 4 + m < M) {
              const float result = sums_acc[m * 8 + n];
              if (no * 8 + n < N) {
                sums[m * 8 + n] = result;
              }
            }
          }
        }
      }
      for (int64_t mi = 0; mi < 4; ++mi) {
        /* vectorized */
        for (int64_t ni = 0; ni < 8; ++ni) {
          if (mo * 4 + mi < M && no * 8 + ni < N) {
            C[(mo * 4 + mi) * N + no * 8 + ni] = sums[mi * 8 + ni];
          }
        }
      }
    }
  }
  return 0;
}

/* mm(in f32[M, K] A, in f32[K, N] B, out f32[M, N] C)
   args: A, B, C, M, K, N */
int32_t ferry_fn_mm(void* const* args, const ferry_runtime_api* rt) {
  const float* restrict A = args[0];  /* [M, K] */
  const float* restrict B = args[1];  /* [K, N] */
  float* restrict C = args[2];  /* [M, N] */
  const int64_t M = *(const int64_t*)args[3];
  const int64_t K = *(const int64_t*)args[4];
  const int64_t N = *(const int64_t*)args[5];
  const int64_t mo_count = (M + 3) / 4;
  if (mo_count > 0) {
    struct ferry_fn_mm_mo_closure closure = {A, B, C, N, K, M};
    const int64_t worth_a_thread = max_i64(floor_div_i64(16384, max_i64((N + 7) / 8, 0) * (68 + max_i64(K, 0) * 645 + 164 + 164 + 1) + 1), 1);
    const int32_t status = rt->parallel_for(rt, mo_count, worth_a_thread, ferry_fn_mm_mo, &closure);
    if (status != 0) return status;
  }
  return 0;
}
