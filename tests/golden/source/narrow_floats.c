typedef uint16_t f16;  /* the bits of a float16 */
typedef uint16_t bf16;  /* the bits of a bfloat16 */

static inline uint32_t f32_bits(float value) {
  uint32_t result;
  memcpy(&result, &value, sizeof result);
  return result;
}

static inline float f32_from_bits(uint32_t value) {
  float result;
  memcpy(&result, &value, sizeof result);
  return result;
}

static inline f16 f32_to_f16(float value) {
  const uint32_t bits = f32_bits(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (value != value) return (f16)(sign | 0x7e00u);
  const uint32_t exponent = magnitude & 0x7f800000u;
  const uint32_t power = (exponent > 113u << 23 ? exponent : 113u << 23) + (15u << 23);
  const float scaled = f32_from_bits(magnitude) * 0x1p112f * 0x1p-110f;
  const uint32_t rounded = f32_bits(f32_from_bits(power) + scaled);
  return (f16)(sign | ((rounded >> 13 & 0x7c00u) + (rounded & 0xfffu)));
}

static inline float f16_to_f32(f16 value) {
  const uint32_t magnitude = value & 0x7fffu;
  const float normal = f32_from_bits((magnitude << 13) + (224u << 23)) * 0x1p-112f;
  const float result = magnitude < 0x400u ? (float)magnitude * 0x1p-24f : normal;
  return f32_from_bits(f32_bits(result) | (value & 0x8000u) << 16);
}

static inline float bf16_to_f32(bf16 value) {
  return f32_from_bits((uint32_t)value << 16);
}

static inline float sigmoid_f32(float x) {
  const float e = expf(-fabsf(x));
  return (x >= 0 ? 1 : e) / (1 + e);
}

static inline bf16 f32_to_bf16(float value) {
  const uint32_t bits = f32_bits(value);
  if (value != value) return (bf16)(bits >> 16 | 0x40u);
  return (bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* f(in f16[N] A, in bf16[N] B, out f16[N] C, out f64[N] D)
   args: A, B, C, D, N */
int32_t ferry_fn_f(void* const* args, const ferry_runtime_api* rt) {
  (void)rt;
  const f16* restrict A = args[0];  /* [N] */
  const bf16* restrict B = args[1];  /* [N] */
  f16* restrict C = args[2];  /* [N] */
  double* restrict D = args[3];  /* [N] */
  const int64_t N = *(const int64_t*)args[4];
  for (int64_t i = 0; i < N; ++i) {
    C[i] = f32_to_f16(f16_to_f32(f32_to_f16(expf(f16_to_f32(A[i])))) + f16_to_f32(f32_to_f16(sigmoid_f32(bf16_to_f32(B[i])))));
  }
  for (int64_t i = 0; i < N; ++i) {
    D[i] = (double)bf16_to_f32(f32_to_bf16(tanhf(bf16_to_f32(B[i]))));
  }
  return 0;
}
