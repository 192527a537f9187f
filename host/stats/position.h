// Where the confidence interval of a ratio lies: the decision that `ferry compare` and the gate have in common. They
// differ in the interval, which holds after a fixed number of processes or after any number of pairs, and in words.
#pragma once

#include <cstdint>

namespace ferry::stats {

enum class Position : std::uint8_t { below, within, above, across };

// Takes an interval of the logarithm of a ratio, and how far from 0 it matters.
inline Position position_of(double low, double high, double limit) {
  if (low > limit) return Position::above;
  if (high < -limit) return Position::below;
  return low >= -limit && high <= limit ? Position::within : Position::across;
}

}  // namespace ferry::stats
