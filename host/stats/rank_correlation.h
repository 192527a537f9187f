// How well one quantity orders things as another one does, whatever their units are.
#pragma once

#include <span>

namespace ferry::stats {

// Returns Spearman's rank correlation (Spearman, The proof and measurement of association between two things, 1904): 1
// if both orders are the same, -1 if one is the reverse of the other. Equal values have the mean of their ranks. Both
// have as many values; returns 0 if all values of one are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace ferry::stats
