// Errors of an algorithm relative to those of the operator's definition, both computed in float32.
#pragma once

namespace ferry {

// Typical ratios of the root mean square and of the largest of the errors.
struct ErrorRatios {
  double rms = 1, largest = 1;
  bool is_within(const ErrorRatios& limit) const { return rms <= limit.rms && largest <= limit.largest; }
};

// Limits for algorithms that are chosen without asking.
inline constexpr ErrorRatios kMaxErrorRatios = {4, 8};

}  // namespace ferry
