#include "device-runtime/handlers/fresh_values.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace ferry::device {
namespace {

using Line = std::array<std::uint8_t, kLineBytes>;

// Takes the first words of 32 bits of one line and the others of another.
void mix(const std::uint8_t* first, const std::uint8_t* second, std::int32_t words, Line& line) {
  std::uint32_t a[kLineBytes / sizeof(std::uint32_t)], b[std::size(a)];
  std::memcpy(a, first, kLineBytes);
  std::memcpy(b, second, kLineBytes);
  for (std::size_t i = 0; i < std::size(a); ++i) {
    const std::uint32_t is_first = static_cast<std::int32_t>(i) < words ? ~std::uint32_t{0} : 0;
    a[i] = (a[i] & is_first) | (b[i] & ~is_first);
  }
  std::memcpy(line.data(), a, kLineBytes);
}

// Multiplies floats by random numbers from 0.5 to 1. There are no branches, so that compilers make vectors of it.
template <class Float, class Bits>
void scale(Line& line, const ValueRange& range, const void* random) {
  constexpr Bits kMantissa = (Bits{1} << (std::numeric_limits<Float>::digits - 1)) - 1;
  // Adding this rounds numbers of less than a third of it to integers.
  constexpr Float kRounds = Float{1.5} / std::numeric_limits<Float>::epsilon();
  const auto least = static_cast<Float>(range.least), most = static_cast<Float>(range.most);
  Float values[kLineBytes / sizeof(Float)];
  Bits bits[std::size(values)];
  std::memcpy(values, line.data(), kLineBytes);
  std::memcpy(bits, random, kLineBytes);
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const Float before = values[i];
    const Float after = before * std::bit_cast<Float>((bits[i] & kMantissa) | std::bit_cast<Bits>(Float{0.5}));
    const Float magnitude = std::abs(before), rounded = (before + kRounds) - kRounds;
    const bool changes = (magnitude >= 2 * std::numeric_limits<Float>::min()) & (magnitude < kRounds / 4) &
                         (rounded != before) & (after >= least) & (after <= most);
    values[i] = changes ? after : before;
  }
  std::memcpy(line.data(), values, kLineBytes);
}

template <class Float>
ValueRange range_of_floats(const std::uint8_t* elements, std::uint64_t count) {
  Float least = std::numeric_limits<Float>::infinity(), most = -least;
  for (std::uint64_t i = 0; i < count; ++i) {
    Float value = 0;
    std::memcpy(&value, elements + i * sizeof value, sizeof value);
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  return {least, most};
}

}  // namespace

ValueRange range_of(DType dtype, const std::uint8_t* elements, std::uint64_t count) {
  if (dtype == DType::f32) return range_of_floats<float>(elements, count);
  if (dtype == DType::f64) return range_of_floats<double>(elements, count);
  return {};
}

LineStream::LineStream(RandomStream& random) {
  for (std::uint32_t& state : states_) state = static_cast<std::uint32_t>(random.next()) | 1;
}

void LineStream::draw(DType dtype, const ValueRange& range, const std::uint8_t* first, const std::uint8_t* second,
                      std::uint8_t* to) {
  // G. Marsaglia, "Xorshift RNGs", 2003.
  for (std::uint32_t& state : states_) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  static_assert(sizeof states_ == kLineBytes);
  Line line;
  // Not within a float of 64 bits.
  mix(first, second, static_cast<std::int32_t>(2 + states_[0] % 7 * 2), line);
  if (dtype == DType::f32) scale<float, std::uint32_t>(line, range, states_);
  if (dtype == DType::f64) scale<double, std::uint64_t>(line, range, states_);
  std::memcpy(to, line.data(), kLineBytes);
}

}  // namespace ferry::device
