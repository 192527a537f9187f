// Conversions of 16-bit floats on processors that have no instructions for them. They round to the nearest, half to
// even.

typedef unsigned long long u64;

#define HELPER __attribute__((weak))

static float float_of(unsigned bits) {
  const union {
    unsigned bits;
    float value;
  } number = {bits};
  return number.value;
}

static u64 bits_of_double(double x) {
  const union {
    double value;
    u64 bits;
  } number = {x};
  return number.bits;
}

// Returns the bits of a double in a format of 16 bits, of which `digits` are those behind the point.
static unsigned short narrowed(u64 bits, int digits) {
  const unsigned sign = (unsigned)(bits >> 63) << 15;
  const int exponent_bits = 15 - digits, largest = (1 << exponent_bits) - 1, bias = largest >> 1;
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023 + bias;
  const u64 fraction = bits & 0xfffffffffffff, significand = fraction | 1ull << 52;
  if ((bits >> 52 & 0x7ff) == 0x7ff) {
    const unsigned nan = fraction == 0 ? 0 : 1u << (digits - 1) | (unsigned)(fraction >> (52 - digits));
    return (unsigned short)(sign | (unsigned)largest << digits | nan);
  }
  if (exponent >= largest) return (unsigned short)(sign | (unsigned)largest << digits);
  // Numbers below the least normal one have fewer digits.
  const int shift = 52 - digits + (exponent > 0 ? 0 : 1 - exponent);
  if (shift > 53) return (unsigned short)sign;
  u64 kept = significand >> shift;
  const u64 rest = significand & ((1ull << shift) - 1), half = 1ull << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The leading digit, which is not stored, adds 1 to the exponent.
  if (exponent > 0) kept += (u64)(exponent - 1) << digits;
  return (unsigned short)(sign | (unsigned)kept);
}

static float widened(unsigned short bits) {
  const unsigned sign = (unsigned)(bits >> 15) << 31, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return float_of(sign | 0x7f800000 | fraction << 13 | (fraction == 0 ? 0 : 0x400000));
  if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
  const float value = (float)fraction * 0x1p-24f;
  return sign == 0 ? value : -value;
}

#ifdef __arm__
static unsigned bits_of_float(float x) {
  const union {
    float value;
    unsigned bits;
  } number = {x};
  return number.bits;
}

// These pass floats in integer registers.
#define SOFT HELPER __attribute__((pcs("aapcs")))
SOFT unsigned __gnu_h2f_ieee(unsigned short bits) { return bits_of_float(widened(bits)); }
SOFT unsigned short __gnu_f2h_ieee(unsigned bits) { return narrowed(bits_of_double(float_of(bits)), 10); }
SOFT unsigned __aeabi_h2f(unsigned short bits) { return bits_of_float(widened(bits)); }
SOFT unsigned short __aeabi_f2h(unsigned bits) { return narrowed(bits_of_double(float_of(bits)), 10); }
SOFT unsigned short __aeabi_d2h(u64 bits) { return narrowed(bits, 10); }
#else
union Half {
  unsigned short bits;
  _Float16 value;
};
union Brain {
  unsigned short bits;
  __bf16 value;
};
HELPER float __extendhfsf2(_Float16 x) { return widened((union Half){.value = x}.bits); }
HELPER _Float16 __truncsfhf2(float x) { return (union Half){.bits = narrowed(bits_of_double(x), 10)}.value; }
HELPER _Float16 __truncdfhf2(double x) { return (union Half){.bits = narrowed(bits_of_double(x), 10)}.value; }
HELPER __bf16 __truncsfbf2(float x) { return (union Brain){.bits = narrowed(bits_of_double(x), 7)}.value; }
HELPER __bf16 __truncdfbf2(double x) { return (union Brain){.bits = narrowed(bits_of_double(x), 7)}.value; }
#endif
