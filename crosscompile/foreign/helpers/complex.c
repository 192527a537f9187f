// Products and quotients of complex numbers, as annex G of C has them: infinite where an operand is infinite.

#define HELPER __attribute__((weak))

// Returns 1 or 0 with the sign of x, depending on whether it is infinite.
#define BOXED(x) __builtin_copysign(__builtin_isinf(x) ? 1.0 : 0.0, x)
#define WITHOUT_NAN(x) (__builtin_isnan(x) ? __builtin_copysign(0.0, x) : (x))
#define ARE_FINITE(x, y) (__builtin_isfinite(x) && __builtin_isfinite(y))
#define IS_INFINITE(x, y) (__builtin_isinf(x) || __builtin_isinf(y))

#define PRODUCT(name, type)                                                                              \
  HELPER type _Complex name(type a, type b, type c, type d) {                                            \
    const type ac = a * c, bd = b * d, ad = a * d, bc = b * c;                                           \
    type real = ac - bd, imaginary = ad + bc;                                                            \
    if (__builtin_isnan(real) && __builtin_isnan(imaginary)) {                                           \
      const int overflows = IS_INFINITE(ac, bd) || IS_INFINITE(ad, bc);                                  \
      const int left = IS_INFINITE(a, b), right = IS_INFINITE(c, d);                                     \
      if (left || right || overflows) {                                                                  \
        if (left) a = BOXED(a), b = BOXED(b);                                                            \
        if (right) c = BOXED(c), d = BOXED(d);                                                           \
        a = WITHOUT_NAN(a), b = WITHOUT_NAN(b), c = WITHOUT_NAN(c), d = WITHOUT_NAN(d);                  \
        real = __builtin_inf() * (a * c - b * d);                                                        \
        imaginary = __builtin_inf() * (a * d + b * c);                                                   \
      }                                                                                                  \
    }                                                                                                    \
    type _Complex result;                                                                                \
    __real__ result = real;                                                                              \
    __imag__ result = imaginary;                                                                         \
    return result;                                                                                       \
  }
PRODUCT(__mulsc3, float)
PRODUCT(__muldc3, double)

// Returns a power of two that brings the larger part of a divisor near 1. No quotient of floats needs one, since it is
// computed in double precision.
static double scale_of(double c, double d) {
  const double larger = __builtin_fabs(c) > __builtin_fabs(d) ? __builtin_fabs(c) : __builtin_fabs(d);
  union {
    double value;
    unsigned long long bits;
  } scale = {larger};
  const unsigned long long exponent = scale.bits >> 52;
  if (larger == 0 || exponent == 0x7ff) return 1;
  scale.bits = (exponent < 2 ? 2045 : exponent > 2044 ? 1 : 2046 - exponent) << 52;
  return scale.value;
}

static double _Complex quotient(double a, double b, double c, double d) {
  const double scale = scale_of(c, d), e = c * scale, f = d * scale, norm = e * e + f * f;
  double real = (a * e + b * f) / norm * scale, imaginary = (b * e - a * f) / norm * scale;
  if (__builtin_isnan(real) && __builtin_isnan(imaginary)) {
    if (norm == 0 && !(__builtin_isnan(a) && __builtin_isnan(b))) {
      real = __builtin_copysign(__builtin_inf(), c) * a;
      imaginary = __builtin_copysign(__builtin_inf(), c) * b;
    } else if (IS_INFINITE(a, b) && ARE_FINITE(c, d)) {
      real = __builtin_inf() * (BOXED(a) * c + BOXED(b) * d);
      imaginary = __builtin_inf() * (BOXED(b) * c - BOXED(a) * d);
    } else if (IS_INFINITE(c, d) && ARE_FINITE(a, b)) {
      real = 0 * (a * BOXED(c) + b * BOXED(d));
      imaginary = 0 * (b * BOXED(c) - a * BOXED(d));
    }
  }
  double _Complex result;
  __real__ result = real;
  __imag__ result = imaginary;
  return result;
}

HELPER double _Complex __divdc3(double a, double b, double c, double d) { return quotient(a, b, c, d); }
HELPER float _Complex __divsc3(float a, float b, float c, float d) { return quotient(a, b, c, d); }
