#include "device-runtime/static_libc/decimal.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace ferry::static_libc {
namespace {

constexpr int kFractionBits = 52;
constexpr int kExponentMask = 0x7ff;
constexpr std::uint64_t kImplicitBit = std::uint64_t{1} << kFractionBits;

// All digits of a number: 0.text[0]text[1]... times ten to the power of `point`.
struct Digits {
  char text[1440];
  int count = 0;
  int point = 0;
};

// Expands a finite magnitude exactly, in base 10^9 like musl: at most 35 words before the point and 120 after it.
Digits expand(std::uint64_t bits) {
  constexpr std::uint32_t kBase = 1'000'000'000;
  constexpr int kPoint = 36;
  std::uint32_t words[160];
  const int biased = static_cast<int>(bits >> kFractionBits) & kExponentMask;
  const std::uint64_t mantissa = (bits & (kImplicitBit - 1)) | (biased != 0 ? kImplicitBit : 0);
  int exponent = std::max(biased, 1) - 1075;
  words[kPoint - 2] = static_cast<std::uint32_t>(mantissa / kBase);
  words[kPoint - 1] = static_cast<std::uint32_t>(mantissa % kBase);
  int first = kPoint - 2, last = kPoint;
  for (; exponent > 0; exponent -= std::min(exponent, 29)) {
    std::uint64_t carry = 0;
    for (int i = last - 1; i >= first; --i) {
      carry += std::uint64_t{words[i]} << std::min(exponent, 29);
      words[i] = static_cast<std::uint32_t>(carry % kBase);
      carry /= kBase;
    }
    if (carry != 0) words[--first] = static_cast<std::uint32_t>(carry);
  }
  // 10^9 is divisible by 2^9, so a shift by up to 9 bits leaves whole words.
  for (; exponent < 0; exponent += std::min(-exponent, 9)) {
    const int shift = std::min(-exponent, 9);
    std::uint32_t carry = 0;
    for (int i = first; i < last; ++i) {
      const std::uint32_t rest = words[i] & ((1u << shift) - 1);
      words[i] = (words[i] >> shift) + carry;
      carry = (kBase >> shift) * rest;
    }
    if (carry != 0) words[last++] = carry;
  }
  Digits digits;
  for (int i = first; i < last; ++i) {
    std::uint32_t word = words[i];
    for (int k = 8; k >= 0; --k, word /= 10) digits.text[digits.count + k] = static_cast<char>('0' + word % 10);
    digits.count += 9;
  }
  digits.point = (kPoint - first) * 9;
  int zeros = 0;
  while (zeros < digits.count && digits.text[zeros] == '0') ++zeros;
  digits.count -= zeros;
  digits.point = digits.count > 0 ? digits.point - zeros : 1;
  std::memmove(digits.text, digits.text + zeros, static_cast<std::size_t>(digits.count));
  return digits;
}

// Keeps the first `most` digits, which may be none or fewer, and rounds half to even.
void round_to(Digits& digits, int most) {
  if (most >= digits.count) return;
  const int end = std::max(most, 0);
  bool is_up = false;
  if (most >= 0 && digits.text[end] >= '5') {
    const char* after = digits.text + end + 1;
    const bool is_half =
        digits.text[end] == '5' && std::all_of(after, static_cast<const char*>(digits.text) + digits.count,
                                               [](char digit) { return digit == '0'; });
    is_up = !is_half || (end > 0 && (digits.text[end - 1] - '0') % 2 == 1);
  }
  digits.count = end;
  if (!is_up) return;
  int i = end;
  while (i > 0 && digits.text[i - 1] == '9') digits.text[--i] = '0';
  if (i > 0) {
    ++digits.text[i - 1];
    return;
  }
  digits.text[0] = '1';
  std::memset(digits.text + 1, '0', static_cast<std::size_t>(end));
  digits.count = end + 1;
  ++digits.point;
}

char* write_fixed(const Digits& digits, int precision, char* to) {
  const auto digit = [&](int i) { return i >= 0 && i < digits.count ? digits.text[i] : '0'; };
  if (digits.point <= 0) *to++ = '0';
  for (int i = 0; i < digits.point; ++i) *to++ = digit(i);
  if (precision > 0) *to++ = '.';
  for (int i = 0; i < precision; ++i) *to++ = digit(digits.point + i);
  return to;
}

char* write_scientific(Digits digits, int precision, char letter, char* to) {
  int exponent = digits.point - 1;
  digits.point = 1;
  to = write_fixed(digits, precision, to);
  *to++ = letter;
  *to++ = exponent < 0 ? '-' : '+';
  exponent = exponent < 0 ? -exponent : exponent;
  if (exponent >= 100) *to++ = static_cast<char>('0' + exponent / 100);
  *to++ = static_cast<char>('0' + exponent / 10 % 10);
  *to++ = static_cast<char>('0' + exponent % 10);
  return to;
}

}  // namespace

std::size_t write_decimal(double value, char conversion, int precision, char* text) {
  const bool is_capital = conversion >= 'A' && conversion <= 'Z';
  const char letter = static_cast<char>(conversion | 0x20);
  const auto bits = std::bit_cast<std::uint64_t>(value) & ~(std::uint64_t{1} << 63);
  if (bits >> kFractionBits == kExponentMask) {
    const bool is_nan = (bits & (kImplicitBit - 1)) != 0;
    std::memcpy(text, is_nan ? (is_capital ? "NAN" : "nan") : (is_capital ? "INF" : "inf"), 3);
    return 3;
  }
  if (precision < 0) precision = 6;
  precision = std::min(precision, kMaxPrecision);
  const char mark = is_capital ? 'E' : 'e';
  Digits digits = expand(bits);
  char* end = text;
  if (letter == 'f') {
    round_to(digits, digits.point + precision);
    end = write_fixed(digits, precision, text);
  } else if (letter == 'g') {
    const int most = std::max(precision, 1);
    round_to(digits, most);
    while (digits.count > 0 && digits.text[digits.count - 1] == '0') --digits.count;
    const int exponent = digits.point - 1;
    end = exponent < -4 || exponent >= most ? write_scientific(digits, std::max(digits.count - 1, 0), mark, text)
                                            : write_fixed(digits, std::max(digits.count - digits.point, 0), text);
  } else {
    round_to(digits, precision + 1);
    end = write_scientific(digits, precision, mark, text);
  }
  return static_cast<std::size_t>(end - text);
}

}  // namespace ferry::static_libc
