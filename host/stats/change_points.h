// Finds where the level of a series changes, for people who look at a history of times. It is no test of the last
// value: a change is found once there are a few values after it.
//
// A split of a window is rated by the energy statistic of E-divisive (Matteson and James, A nonparametric approach for
// multiple change point analysis of multivariate data, JASA 2014), and the best one is tested by Student's t instead of
// permutations, as Hunter does (Fleming et al., Hunter: using change point detection to hunt for performance
// regressions, ICPE 2023). Hunter's windows have one length; here the lengths decrease from that of the series on by
// factors of sqrt(2), and windows overlap by half (Kovács et al., Seeded binary segmentation, Biometrika 2023), so that
// neither a short change in a long series nor a slight one of many values is missed. The narrowest window with a change
// is used first, since it probably contains no other (Baranowski, Chen and Fryzlewicz, Narrowest-over-threshold, JRSS B
// 2019). The search is repeated between the changes that are found. Then each change is moved to the best place between
// its neighbours and tested again, between them or in the window that showed it, and the weakest are removed until all
// pass.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"

namespace ferry::stats {

// The values on each side of a change are at least this many.
inline constexpr std::size_t kLeastSegment = 3;
inline constexpr std::size_t kMostForChangePoints = 100'000;

struct ChangePoint {
  std::size_t index;     // the first value after the change
  double before, after;  // means of the values since the previous change, and until the next one
  double p;              // Student's t probability, multiplied by the number of splits that were tried, at most 1
};

// Returns the changes in their order. In a series of independent normal values without one, any is found with at most
// the probability `level`. Takes time n log^2 n. Refuses values that are not finite, more than kMostForChangePoints of
// them, and a level that is not between 0 and 1.
Result<std::vector<ChangePoint>> change_points(std::span<const double> values, double level = 0.01);

}  // namespace ferry::stats
