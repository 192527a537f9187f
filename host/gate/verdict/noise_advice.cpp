#include "host/gate/verdict/noise_advice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/quantity_text.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kLeastOfGroup = 3;
// The gap between two groups is so much of the whole range: with two speeds, the ratios lie in two groups, or in three
// with a gap of half the range.
constexpr double kLeastGap = 0.3;

// Returns the distance of two groups of values that nothing lies between; 0 if there are no such groups.
double gap_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  double gap = 0;
  for (std::size_t i = kLeastOfGroup; i + kLeastOfGroup <= sorted.size(); ++i)
    gap = std::max(gap, sorted[i] - sorted[i - 1]);
  return !sorted.empty() && gap > kLeastGap * (sorted.back() - sorted.front()) ? gap : 0;
}

double deviation_of(std::span<const double> values) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean) / static_cast<double>(values.size());
  return std::sqrt(squares);
}

}  // namespace

std::string noise_advice(std::span<const double> log_ratios, double correlation, double tolerance) {
  const double limit = std::log1p(tolerance);
  if (const double gap = gap_of(log_ratios); gap > limit) {
    return "the pairs form groups that are " + percent_text(std::expm1(gap)) +
           " apart, as with two speeds of the board or of its cores: fix the frequency, or set the case's cores";
  }
  if (correlation > 0) {
    return "something lasts for several pairs, such as a change of the board's frequency or temperature: fix the "
           "frequency, or cool the board";
  }
  if (const double deviation = deviation_of(log_ratios); deviation > limit) {
    return "pairs differ by " + percent_text(std::expm1(deviation)) +
           ": keep other programs away from the board, or raise the case's samples or tolerance";
  }
  return {};
}

}  // namespace ferry::gate
