// An interval for the mean of normal values that holds after every number of them at once, so that the caller may stop
// as soon as it says enough.
//
// Under a hypothetical mean, the right Haar prior of the deviation and a standard normal prior of the effect (the
// mean's distance in deviations), the mixture of likelihood ratios against that mean is
//
//     M(n) = (n+1)^(-1/2) * (1 - S^2 / ((n+1) V))^(-n/2)
//
// where S is the sum of the differences to it and V that of their squares. It depends on ratios of differences alone
// and is a martingale of mean 1, so the probability that it ever reaches 1/level is at most the level (Ville 1939). The
// means that have not reached it are within s * sqrt(K / (n-K)) of the sample's mean, where s is the sample's
// deviation, K = (n+1) (1 - 1/T) and T = ((n+1) / level^2)^(1/n). From: Wang and Ramdas, Anytime-valid t-tests and
// confidence sequences for Gaussian means with unknown variance, Sequential Analysis 2025; the Gaussian mixture has
// precision 1.
#pragma once

#include <cstddef>
#include <span>

#include "base/status.h"

namespace ferry::stats {

struct MeanInterval {
  double mean, deviation;  // the deviation divides by the number of values
  double low, high;        // infinite while nothing can be said
};

// Returns by how many deviations the interval reaches to either side: sqrt(K / (n-K)), infinite where K >= n.
// Requires 0 < level < 1.
double confidence_reach(std::size_t count, double level);

// Returns the least number of values with a finite interval. Requires 0 < level < 1.
std::size_t least_for_confidence(double level);

// The probability that the true mean is ever outside, after whatever number of values, is at most `level`. Refuses a
// level that is not between 0 and 1, and values that are not finite.
Result<MeanInterval> confidence_sequence(std::span<const double> values, double level);

}  // namespace ferry::stats
