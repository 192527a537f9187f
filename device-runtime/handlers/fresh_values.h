// New values for the elements of an input, near those that the client gave.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random_stream.h"
#include "ferry/types.h"

namespace ferry::device {

inline constexpr std::size_t kLineBytes = 64;

// The least and the largest of an input's elements, as far as they are numbers.
struct ValueRange {
  double least = 0, most = 0;
};

// Nothing for other types than floats of 32 and 64 bits.
ValueRange range_of(DType dtype, const std::uint8_t* elements, std::uint64_t count);

// Draws lines from those of an input: each element is that of one of two lines at its place, so that no group of
// elements comes again. Floats of 32 and 64 bits are also multiplied by a number from 0.5 to 1. Integers, infinities,
// NaN and subnormal numbers stay as they are, and so does what would leave the range. Elements of other types have so
// few values that a kernel may have a table of all.
class LineStream {
 public:
  explicit LineStream(RandomStream& random);
  void draw(DType dtype, const ValueRange& range, const std::uint8_t* first, const std::uint8_t* second,
            std::uint8_t* to);

 private:
  alignas(16) std::uint32_t states_[kLineBytes / sizeof(std::uint32_t)];
};

}  // namespace ferry::device
