// Functions of <math.h> that devices do not offer, from those that they do. Results in float are computed in double
// precision, so they are rounded correctly but for rare cases; those in double precision are within two units of the
// last place.

typedef unsigned long long u64;

#define HELPER __attribute__((weak))

double log(double), log1p(double), round(double), roundeven(double), trunc(double);
float roundf(float), roundevenf(float), truncf(float);

union Number {
  double value;
  u64 bits;
};

static int exponent_of(double x) { return (int)((union Number){x}.bits >> 52 & 0x7ff) - 1023; }

// Multiplies with a power of two. What becomes subnormal is rounded once.
static double scaled(double x, long exponent) {
  if (x == 0 || !__builtin_isfinite(x)) return x;
  long now = exponent_of(x);
  if (now == -1023) {
    x *= 0x1p54;
    exponent -= 54;
    now = exponent_of(x);
  }
  if (exponent > 4096) exponent = 4096;
  if (exponent < -4096) exponent = -4096;
  const long wanted = now + exponent;
  union Number number = {x};
  number.bits &= ~(0x7ffull << 52);
  if (wanted > 1023) return (number.bits |= 2046ull << 52, number.value * 2);
  if (wanted >= -1022) return (number.bits |= (u64)(wanted + 1023) << 52, number.value);
  number.bits |= (u64)(wanted < -1200 ? 1 : wanted + 1023 + 200) << 52;
  return number.value * 0x1p-200;
}

// Finds f and n with x = f * 2^n and 0.5 <= |f| < 1.
static double fraction_of(double x, int* exponent) {
  *exponent = 0;
  if (x == 0 || !__builtin_isfinite(x)) return x;
  int more = 1;
  if (exponent_of(x) == -1023) {
    x *= 0x1p54;
    more -= 54;
  }
  *exponent = exponent_of(x) + more;
  union Number number = {x};
  number.bits = (number.bits & ~(0x7ffull << 52)) | 1022ull << 52;
  return number.value;
}

HELPER double ldexp(double x, int n) { return scaled(x, n); }
HELPER float ldexpf(float x, int n) { return (float)scaled(x, n); }
HELPER double scalbn(double x, int n) { return scaled(x, n); }
HELPER float scalbnf(float x, int n) { return (float)scaled(x, n); }
HELPER double frexp(double x, int* n) { return fraction_of(x, n); }
HELPER float frexpf(float x, int* n) { return (float)fraction_of(x, n); }

HELPER double modf(double x, double* whole) {
  *whole = trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0 : x - *whole, x);
}
HELPER float modff(float x, float* whole) {
  *whole = truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0 : x - *whole, x);
}

// Kernels run in the default rounding mode.
HELPER double rint(double x) { return roundeven(x); }
HELPER float rintf(float x) { return roundevenf(x); }
HELPER double nearbyint(double x) { return roundeven(x); }
HELPER float nearbyintf(float x) { return roundevenf(x); }
HELPER long lrint(double x) { return (long)roundeven(x); }
HELPER long lrintf(float x) { return (long)roundevenf(x); }
HELPER long long llrint(double x) { return (long long)roundeven(x); }
HELPER long long llrintf(float x) { return (long long)roundevenf(x); }
HELPER long lround(double x) { return (long)round(x); }
HELPER long lroundf(float x) { return (long)roundf(x); }
HELPER long long llround(double x) { return (long long)round(x); }
HELPER long long llroundf(float x) { return (long long)roundf(x); }

HELPER double fmax(double x, double y) { return x != x || x < y ? y : x; }
HELPER float fmaxf(float x, float y) { return x != x || x < y ? y : x; }
HELPER double fmin(double x, double y) { return x != x || y < x ? y : x; }
HELPER float fminf(float x, float y) { return x != x || y < x ? y : x; }
HELPER double fdim(double x, double y) { return x <= y ? 0 : x - y; }
HELPER float fdimf(float x, float y) { return x <= y ? 0 : x - y; }

HELPER double hypot(double x, double y) {
  if (__builtin_isinf(x) || __builtin_isinf(y)) return __builtin_inf();
  double a = __builtin_fabs(x), b = __builtin_fabs(y);
  if (a < b) {
    const double larger = b;
    b = a;
    a = larger;
  }
  if (!(b > 0) || b < a * 0x1p-60) return a + b;  // NaN too
  const double scale = a > 0x1p500 ? 0x1p-600 : b < 0x1p-500 ? 0x1p600 : 1;
  a *= scale;
  b *= scale;
  const double first = __builtin_sqrt(a * a + b * b);
  // One step of Newton's method, with the rounding errors of the squares.
  const double aa = a * a, bb = b * b, rr = first * first;
  const double error = (aa - rr + bb) + __builtin_fma(a, a, -aa) + __builtin_fma(b, b, -bb) -
                       __builtin_fma(first, first, -rr);
  return (first + error / (2 * first)) / scale;
}
HELPER float hypotf(float x, float y) {
  if (__builtin_isinf(x) || __builtin_isinf(y)) return __builtin_inff();
  return (float)__builtin_sqrt((double)x * x + (double)y * y);
}

HELPER double cbrt(double x) {
  int exponent;
  double rest = fraction_of(x, &exponent);
  if (x == 0 || !__builtin_isfinite(x)) return x;
  // x = rest * 2^(3 third), with 0.125 <= |rest| < 1.
  const int third = (exponent + 3000 + 2) / 3 - 1000;
  rest = scaled(rest, exponent - 3 * third);
  const double a = __builtin_fabs(rest);
  double root = 0.4 + a * (0.9 - 0.3 * a);  // within a tenth
  for (int step = 0; step < 3; ++step) {  // Halley's method triples the digits
    const double cube = root * root * root;
    root *= (cube + 2 * a) / (2 * cube + a);
  }
  const double square = root * root, error = __builtin_fma(root, root, -square);
  root -= (__builtin_fma(square, root, -a) + error * root) / (3 * square);
  return __builtin_copysign(scaled(root, third), x);
}
HELPER float cbrtf(float x) { return (float)cbrt(x); }

HELPER double log10(double x) {
  // 1 / ln 10, as a sum.
  const double factor = 0x1.bcb7b1526e50ep-2, rest = 0x1.95355baaafad3p-57;
  const double natural = log(x);
  if (!__builtin_isfinite(natural)) return natural;
  const double product = natural * factor;
  const double result = product + (__builtin_fma(natural, factor, -product) + natural * rest);
  // Powers of ten have whole logarithms.
  const double whole = roundeven(result);
  if (whole > 0 && whole < 23 && __builtin_fabs(result - whole) < 1e-13) {
    double power = 1;
    for (int i = 0; i < (int)whole; ++i) power *= 10;
    if (power == x) return whole;
  }
  return result;
}
HELPER float log10f(float x) { return (float)log10(x); }

HELPER double asinh(double x) {
  const double a = __builtin_fabs(x);
  if (!(a < 0x1p28)) return __builtin_copysign(log(a) + 0x1.62e42fefa39efp-1, x);
  return __builtin_copysign(log1p(a + a * a / (1 + __builtin_sqrt(1 + a * a))), x);
}
HELPER float asinhf(float x) { return (float)asinh(x); }
HELPER double acosh(double x) {
  if (x < 1) return __builtin_nan("");
  if (x > 0x1p28) return log(x) + 0x1.62e42fefa39efp-1;
  const double t = x - 1;
  return log1p(t + __builtin_sqrt(2 * t + t * t));
}
HELPER float acoshf(float x) { return (float)acosh(x); }
HELPER double atanh(double x) {
  const double a = __builtin_fabs(x);
  return __builtin_copysign(0.5 * log1p(2 * a / (1 - a)), x);
}
HELPER float atanhf(float x) { return (float)atanh(x); }
