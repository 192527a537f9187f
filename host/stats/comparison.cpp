#include "host/stats/comparison.h"

#include <cmath>
#include <cstdio>
#include <numeric>

#include "host/stats/student_t.h"

namespace ferry::stats {

Comparison compare(std::span<const double> log_ratios, double least_effect) {
  Comparison result;
  if (log_ratios.size() < 2) return result;
  const auto count = static_cast<double>(log_ratios.size());
  const double mean = std::accumulate(log_ratios.begin(), log_ratios.end(), 0.0) / count;
  double squares = 0;
  for (const double value : log_ratios) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  const double reach = student_t_quantile(1 - kComparisonLevel / 2, count - 1) * error;
  result.ratio = std::exp(mean);
  result.low = std::exp(mean - reach);
  result.high = std::exp(mean + reach);
  if (error > 0) {
    result.p_value = 2 * student_t_cdf(-std::abs(mean) / error, count - 1);
  } else {
    result.p_value = mean == 0 ? 1 : 0;
  }
  const double smallest = std::log1p(least_effect);
  if (mean - reach > 0 && mean >= smallest) result.verdict = Verdict::a_slower;
  if (mean + reach < 0 && -mean >= smallest) result.verdict = Verdict::b_slower;
  return result;
}

std::string to_text(const Comparison& comparison) {
  if (comparison.verdict == Verdict::no_difference) return "no difference";
  const bool a = comparison.verdict == Verdict::a_slower;
  const auto percent = [](double ratio) { return (ratio - 1) * 100; };
  const double by = percent(a ? comparison.ratio : 1 / comparison.ratio);
  const double low = percent(a ? comparison.low : 1 / comparison.high);
  const double high = percent(a ? comparison.high : 1 / comparison.low);
  char text[128];
  std::snprintf(text, sizeof text, "%s is slower by %.1f%% [%.1f%%, %.1f%%]", a ? "A" : "B", by, low, high);
  return text;
}

}  // namespace ferry::stats
