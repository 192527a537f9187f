#include "ferry/stats/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

#include "host/stats/position.h"
#include "host/stats/student_t.h"

namespace ferry::stats {

namespace {

double reach_of(double deviation, double count) {
  return student_t_quantile(1 - kComparisonLevel / 2, count - 1) * deviation / std::sqrt(count);
}

// Returns the least count for which the interval's half width is at most `reach`, or nothing beyond an impractical
// count.
std::optional<std::uint32_t> enough_for(double deviation, double reach) {
  constexpr std::uint32_t kMost = 100'000;
  if (!(reach > 0)) return std::nullopt;
  for (std::uint32_t count = 2; count <= kMost; count += 1 + count / 20)
    if (reach_of(deviation, count) <= reach) return count;
  return std::nullopt;
}

std::string percent_text(double fraction) {
  char text[32];
  const double percent = fraction * 100;
  std::snprintf(text, sizeof text, percent < 10 ? "%.1f%%" : "%.0f%%", percent);
  return text;
}

std::string times_text(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, ratio < 100 ? "%.1f" : "%.0f", ratio);
  return text;
}

// From this ratio on, a factor is easier to grasp than a percentage.
constexpr double kFactor = 2;

bool is_factor(double ratio) { return ratio >= kFactor || (ratio <= 1 / kFactor && ratio > 0); }

// Describes A by the ratio of A's time to B's, as a factor if that is easier or if the caller says so.
std::string effect_text(double ratio, bool as_factor) {
  const std::string way = ratio < 1 ? " faster" : " slower";
  if ((as_factor || is_factor(ratio)) && ratio > 0) return times_text(ratio < 1 ? 1 / ratio : ratio) + " times" + way;
  return percent_text(std::abs(ratio - 1)) + way;
}

}  // namespace

Comparison compare(std::span<const double> log_ratios, double least_effect) {
  Comparison result;
  const auto count = static_cast<double>(log_ratios.size());
  if (log_ratios.size() < 2) {
    result.ratio = log_ratios.empty() ? std::nan("") : std::exp(log_ratios.front());
    result.low = 0;
    result.high = std::numeric_limits<double>::infinity();
    return result;
  }
  const double mean = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0) / count;
  double squares = 0;
  for (const double value : log_ratios) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  const double error = deviation / std::sqrt(count);
  const double reach = reach_of(deviation, count);
  result.ratio = std::exp(mean);
  result.low = std::exp(mean - reach);
  result.high = std::exp(mean + reach);
  if (error > 0) {
    result.p_value = 2 * student_t_cdf(-std::abs(mean) / error, count - 1);
  } else {
    result.p_value = mean == 0 ? 1 : 0;
  }
  const double least = std::log1p(least_effect);
  const auto position = [&](double limit) { return position_of(mean - reach, mean + reach, limit); };
  if (position(0) == Position::above && mean >= least) {
    result.verdict = Verdict::a_slower;
  } else if (position(0) == Position::below && -mean >= least) {
    result.verdict = Verdict::b_slower;
  } else if (position(least) == Position::within) {
    result.verdict = Verdict::no_difference;
  } else {
    // With more processes the mean stays and the interval shrinks until it excludes 1 or lies within the least effect.
    result.enough_processes = enough_for(deviation, std::abs(mean) >= least ? std::abs(mean) : least - std::abs(mean));
  }
  return result;
}

std::string to_text(const Comparison& comparison, double least_effect) {
  switch (comparison.verdict) {
    case Verdict::no_difference: return "no difference of " + percent_text(least_effect) + " or more";
    case Verdict::unknown: {
      if (std::isinf(comparison.high)) return "cannot tell: one process alone says nothing";
      const bool same_side = (comparison.low < 1) == (comparison.high < 1);
      // In one unit: who reads "between 50% slower and 3.0 times slower" has to convert one of them.
      const bool as_factor = same_side && (is_factor(comparison.low) || is_factor(comparison.high));
      const std::string low = effect_text(comparison.low, as_factor), high = effect_text(comparison.high, as_factor);
      // "between 0.2% and 1.6% slower": what both have in common is said once.
      const std::size_t space = low.find(' ');
      const bool same_unit = same_side && low.substr(space) == high.substr(high.find(' '));
      const std::string first = same_unit ? low.substr(0, space) : low;
      return "cannot tell: A is between " + first + " and " + high + " than B";
    }
    case Verdict::a_slower:
    case Verdict::b_slower: break;
  }
  const bool a = comparison.verdict == Verdict::a_slower;
  const double ratio = a ? comparison.ratio : 1 / comparison.ratio;
  const double least = a ? comparison.low : 1 / comparison.high, most = a ? comparison.high : 1 / comparison.low;
  if (ratio >= kFactor) {
    return std::string(a ? "A is " : "B is ") + times_text(ratio) + " times slower than " + (a ? "B" : "A") + " [" +
           times_text(least) + ", " + times_text(most) + "]";
  }
  const auto percent = [](double of) { return (of - 1) * 100; };
  const double by = percent(ratio), low = percent(least), high = percent(most);
  char text[128];
  std::snprintf(text, sizeof text, "%s is slower by %.1f%% [%.1f%%, %.1f%%]", a ? "A" : "B", by, low, high);
  return text;
}

Slowdown slowdown(const Comparison& comparison, double limit) {
  // Bounds of B's time over A's.
  const double low = 1 / comparison.high, high = 1 / comparison.low;
  if (low >= 1 + limit) return Slowdown::yes;
  return high < 1 + limit ? Slowdown::no : Slowdown::unknown;
}

}  // namespace ferry::stats
