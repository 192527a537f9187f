// 128-bit integers, and powers with whole exponents.

typedef unsigned long long u64;

#define HELPER __attribute__((weak))

#define POWER(name, type)                                        \
  HELPER type name(type x, int exponent) {                       \
    unsigned rest = exponent < 0 ? 0u - exponent : exponent;     \
    type power = 1;                                              \
    for (; rest != 0; rest >>= 1, x *= x)                        \
      if ((rest & 1) != 0) power *= x;                           \
    return exponent < 0 ? 1 / power : power;                     \
  }
POWER(__powisf2, float)
POWER(__powidf2, double)

#ifdef __SIZEOF_INT128__

typedef __int128 i128;
typedef unsigned __int128 u128;

static int leading_zeros(u128 x) {
  const u64 high = x >> 64, low = x;
  return high != 0 ? __builtin_clzll(high) : low != 0 ? 64 + __builtin_clzll(low) : 128;
}

// Long division in base 2. Division by zero gives 0.
static u128 divided(u128 x, u128 by, u128* rest) {
  const int first = leading_zeros(by) - leading_zeros(x);
  u128 quotient = 0;
  *rest = x;
  if (by == 0 || first < 0) return 0;
  if (x >> 64 == 0) {
    *rest = (u64)x % (u64)by;
    return (u64)x / (u64)by;
  }
  by <<= first;
  for (int bit = first; bit >= 0; --bit, by >>= 1) {
    quotient <<= 1;
    if (x < by) continue;
    x -= by;
    quotient |= 1;
  }
  *rest = x;
  return quotient;
}

static u128 magnitude(i128 x) { return x < 0 ? -(u128)x : (u128)x; }

HELPER u128 __udivti3(u128 x, u128 y) {
  u128 rest;
  return divided(x, y, &rest);
}
HELPER u128 __umodti3(u128 x, u128 y) {
  u128 rest;
  divided(x, y, &rest);
  return rest;
}
HELPER i128 __divti3(i128 x, i128 y) {
  u128 rest;
  const u128 quotient = divided(magnitude(x), magnitude(y), &rest);
  return (x < 0) != (y < 0) ? -quotient : quotient;
}
HELPER i128 __modti3(i128 x, i128 y) {
  u128 rest;
  divided(magnitude(x), magnitude(y), &rest);
  return x < 0 ? -rest : rest;
}

HELPER i128 __muloti4(i128 x, i128 y, int* overflows) {
  const u128 a = magnitude(x), b = magnitude(y), product = a * b;
  const int is_negative = (x < 0) != (y < 0);
  u128 rest;
  *overflows = (a != 0 && divided(product, a, &rest) != b) || product > ((u128)1 << 127) - !is_negative;
  return is_negative ? -product : product;
}

// Returns the 64 highest bits from the first 1 on, and by how many bits they are shifted. The lowest one collects those
// that are left out, so that a conversion to a float rounds once.
static u64 leading_bits(u128 x, int* shift) {
  const int zeros = leading_zeros(x);
  *shift = zeros < 64 ? 64 - zeros : 0;
  if (*shift == 0) return x;
  return (u64)(x >> *shift) | ((x & (((u128)1 << *shift) - 1)) != 0);
}

static double power_of_two(int exponent) {
  const union {
    u64 bits;
    double value;
  } power = {(u64)(exponent + 1023) << 52};
  return power.value;
}

// 2^127 is a float, and so is every power of two that occurs here.
#define FROM_INTEGER(name, type, integer, of)                    \
  HELPER type name(integer x) {                                  \
    int shift;                                                   \
    const u64 bits = leading_bits(of(x), &shift);                \
    const type value = (type)bits * (type)power_of_two(shift);   \
    return x < 0 ? -value : value;                               \
  }
FROM_INTEGER(__floatuntisf, float, u128, )
FROM_INTEGER(__floatuntidf, double, u128, )
FROM_INTEGER(__floattisf, float, i128, magnitude)
FROM_INTEGER(__floattidf, double, i128, magnitude)

// Returns the whole part of a number of at least 0. Those that are too large, and NaN, have no result in C.
static u128 whole(double x) {
  const union {
    double value;
    u64 bits;
  } number = {x};
  const int exponent = (int)(number.bits >> 52) - 1023;
  const u64 significand = (number.bits & 0xfffffffffffff) | 1ull << 52;
  if (exponent < 0) return 0;
  if (exponent > 127) return ~(u128)0;
  return exponent < 52 ? (u128)(significand >> (52 - exponent)) : (u128)significand << (exponent - 52);
}

HELPER u128 __fixunsdfti(double x) { return x > 0 ? whole(x) : 0; }
HELPER u128 __fixunssfti(float x) { return x > 0 ? whole(x) : 0; }
HELPER i128 __fixdfti(double x) { return x < 0 ? -whole(-x) : whole(x); }
HELPER i128 __fixsfti(float x) { return x < 0 ? -whole(-x) : whole(x); }

#endif
