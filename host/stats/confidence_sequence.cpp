#include "host/stats/confidence_sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/quantity_text.h"

namespace ferry::stats {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Returns the values' mean and deviation. They are scaled by the largest, so that no sum overflows.
MeanInterval moments_of(std::span<const double> values) {
  if (values.empty()) return {0, 0, -kInfinite, kInfinite};
  const auto count = static_cast<double>(values.size());
  double scale = 0;
  for (const double value : values) scale = std::max(scale, std::abs(value));
  if (scale == 0) return {0, 0, 0, 0};
  // Equal values have exactly no deviation only if the first is subtracted.
  const double first = values.front() / scale;
  double sum = 0, squares = 0;
  for (const double value : values) sum += value / scale - first;
  const double mean = sum / count;
  for (const double value : values) {
    const double difference = value / scale - first - mean;
    squares += difference * difference;
  }
  return {(first + mean) * scale, std::sqrt(squares / count) * scale, 0, 0};
}

}  // namespace

double confidence_reach(std::size_t count, double level) {
  if (count == 0) return kInfinite;
  const auto n = static_cast<double>(count);
  const double log_t = (std::log1p(n) - 2 * std::log(level)) / n;
  // K = (n+1) (1 - 1/T), and n - K = (n+1)/T - 1, neither as a difference of numbers that are almost equal.
  const double k = -(n + 1) * std::expm1(-log_t);
  const double rest = std::expm1(std::log1p(n) - log_t);
  return rest > 0 ? std::sqrt(k / rest) : kInfinite;
}

std::size_t least_for_confidence(double level) {
  std::size_t count = 2;
  while (std::isinf(confidence_reach(count, level))) ++count;
  return count;
}

Result<MeanInterval> confidence_sequence(std::span<const double> values, double level) {
  if (!(level > 0 && level < 1)) {
    return Status(ErrorCode::invalid_argument, "expected a level between 0 and 1, got " + number_text(level));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return Status(ErrorCode::invalid_argument,
                    "expected finite values, got " + number_text(values[i]) + " at index " + std::to_string(i));
    }
  }
  MeanInterval interval = moments_of(values);
  const double reach = confidence_reach(values.size(), level);
  const double width = std::isinf(reach) ? kInfinite : reach * interval.deviation;
  interval.low = interval.mean - width;
  interval.high = interval.mean + width;
  return interval;
}

}  // namespace ferry::stats
