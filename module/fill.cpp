#include "ferry/fill.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ferry {
namespace {

// Implements the generator that fill.h declares (MODULE.md defines it) for elements whose indices share their upper 32
// bits. It needs only 32-bit operations, which every target has and compilers can vectorise.
struct Key {
  std::uint32_t before;
  std::uint32_t between;

  Key(std::uint64_t seed, std::uint32_t upper) {
    std::uint64_t x = seed + 0x9e3779b97f4a7c15u * (std::uint64_t{upper} + 1);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    before = static_cast<std::uint32_t>(x);
    between = static_cast<std::uint32_t>(x >> 32);
  }

  std::uint32_t bits(std::uint32_t lower) const {
    std::uint32_t x = lower * 0x9e3779b9u + before;
    x = (x ^ x >> 16) * 0x21f0aaadu;
    x = (x ^ x >> 15) ^ between;
    x = (x ^ x >> 16) * 0x735a2d97u;
    return x ^ x >> 15;
  }
};

// Returns n / 2^10 as f16, for n from -1024 to 1023. The value is exact in eleven bits and never subnormal, so only the
// bias of the exponent changes.
std::uint16_t half_steps(std::int32_t n) {
  if (n == 0) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(n) * 0x1p-10f);
  return static_cast<std::uint16_t>((bits >> 31 << 15) + ((bits & 0x7fffffff) >> 13) - (112 << 10));
}

template <class T, class Value>
void write_each(std::uint64_t first, std::uint64_t count, void* destination, Value value) {
  auto* out = static_cast<T*>(destination);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = value(first + i);
}

template <class T, class Convert>
void write_random(std::uint64_t seed, std::uint64_t first, std::uint64_t count, void* destination, Convert convert) {
  auto* out = static_cast<T*>(destination);
  while (count > 0) {
    const auto lower = static_cast<std::uint32_t>(first);
    const Key key(seed, static_cast<std::uint32_t>(first >> 32));
    const std::uint64_t in_block = std::min<std::uint64_t>(count, (std::uint64_t{1} << 32) - lower);
    // Splits the block into pieces whose indices fit a 32-bit counter.
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(in_block, 1u << 30));
    for (std::uint32_t i = 0; i < piece; ++i) out[i] = convert(static_cast<std::int32_t>(key.bits(lower + i)));
    out += piece;
    first += piece;
    count -= piece;
  }
}

void fill_random(std::uint64_t seed, DType dtype, std::uint64_t first, std::uint64_t count, void* destination) {
  const auto write = [&]<class T>(T, auto convert) { write_random<T>(seed, first, count, destination, convert); };
  switch (dtype) {
    case DType::f16: return write(std::uint16_t{}, [](std::int32_t x) { return half_steps(x >> 21); });
    case DType::bf16:
      // The value is exact in eight bits, so truncating the float is an exact conversion.
      return write(std::uint16_t{}, [](std::int32_t x) {
        return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x >> 24) * 0x1p-7f) >> 16);
      });
    case DType::f32: return write(float{}, [](std::int32_t x) { return static_cast<float>(x >> 8) * 0x1p-23f; });
    case DType::f64: return write(double{}, [](std::int32_t x) { return x * 0x1p-31; });
    case DType::i8: return write(std::int8_t{}, [](std::int32_t x) { return static_cast<std::int8_t>(x >> 28); });
    case DType::i16: return write(std::int16_t{}, [](std::int32_t x) { return static_cast<std::int16_t>(x >> 28); });
    case DType::i32: return write(std::int32_t{}, [](std::int32_t x) { return x >> 28; });
    case DType::i64: return write(std::int64_t{}, [](std::int32_t x) { return std::int64_t{x >> 28}; });
    case DType::u8:
      return write(std::uint8_t{}, [](std::int32_t x) { return static_cast<std::uint8_t>(x >> 28 & 15); });
    case DType::u16:
      return write(std::uint16_t{}, [](std::int32_t x) { return static_cast<std::uint16_t>(x >> 28 & 15); });
    case DType::u32:
      return write(std::uint32_t{}, [](std::int32_t x) { return static_cast<std::uint32_t>(x >> 28 & 15); });
    case DType::u64:
      return write(std::uint64_t{}, [](std::int32_t x) { return static_cast<std::uint64_t>(x >> 28 & 15); });
    case DType::boolean:
      return write(std::uint8_t{}, [](std::int32_t x) { return static_cast<std::uint8_t>(x >> 31 & 1); });
  }
}

// Writes value(i), converted to the type, as element i.
template <class Value>
void fill_numbers(DType dtype, std::uint64_t first, std::uint64_t count, void* destination, Value value) {
  const auto write = [&]<class T>(T, auto convert) {
    write_each<T>(first, count, destination, [&](std::uint64_t i) { return convert(value(i)); });
  };
  switch (dtype) {
    case DType::f16: return write(std::uint16_t{}, [](std::uint64_t v) { return f64_to_f16(static_cast<double>(v)); });
    case DType::bf16:
      return write(std::uint16_t{}, [](std::uint64_t v) { return f64_to_bf16(static_cast<double>(v)); });
    case DType::f32: return write(float{}, [](std::uint64_t v) { return static_cast<float>(v); });
    case DType::f64: return write(double{}, [](std::uint64_t v) { return static_cast<double>(v); });
    case DType::i8:
    case DType::u8: return write(std::uint8_t{}, [](std::uint64_t v) { return static_cast<std::uint8_t>(v); });
    case DType::i16:
    case DType::u16: return write(std::uint16_t{}, [](std::uint64_t v) { return static_cast<std::uint16_t>(v); });
    case DType::i32:
    case DType::u32: return write(std::uint32_t{}, [](std::uint64_t v) { return static_cast<std::uint32_t>(v); });
    case DType::i64:
    case DType::u64: return write(std::uint64_t{}, [](std::uint64_t v) { return v; });
    case DType::boolean: return write(std::uint8_t{}, [](std::uint64_t v) { return std::uint8_t{v != 0}; });
  }
}

}  // namespace

void fill(FillKind kind, std::uint64_t seed, DType dtype, std::uint64_t first, std::uint64_t count, void* destination) {
  if (count == 0) return;
  switch (kind) {
    case FillKind::zeros: std::memset(destination, 0, static_cast<std::size_t>(count * dtype_bytes(dtype))); return;
    case FillKind::ones:
      return fill_numbers(dtype, first, count, destination, [](std::uint64_t) { return std::uint64_t{1}; });
    case FillKind::iota: return fill_numbers(dtype, first, count, destination, [](std::uint64_t i) { return i; });
    case FillKind::random: return fill_random(seed, dtype, first, count, destination);
  }
}

}  // namespace ferry
