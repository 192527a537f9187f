#include "host/text/axis.h"

#include <algorithm>
#include <cmath>

namespace ferry::chart {

double Axis::place(double value) const {
  return from + (to - from) * (std::clamp(value, low, high) - low) / (high - low);
}

std::vector<double> Axis::ticks(int count) const {
  const double raw = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double step = raw <= 1.5 * power   ? power
                      : raw <= 3.5 * power ? 2 * power
                      : raw <= 7.5 * power ? 5 * power
                                           : 10 * power;
  std::vector<double> ticks;
  const double first = std::ceil(low / step);
  // Beside large values a step may be lost in rounding, and would never end.
  // Adding 0 makes a negative zero positive, whose label would be "-0".
  for (int i = 0; i <= 2 * count && (first + i) * step <= high; ++i) ticks.push_back((first + i) * step + 0.0);
  return ticks;
}

Axis axis_around(std::vector<double> values, double from, double to) {
  Axis axis{0, 1, from, to};
  if (values.empty()) return axis;
  std::ranges::sort(values);
  const double lower = values[values.size() / 4], upper = values[values.size() * 3 / 4];
  axis.low = values.front();
  axis.high = values.back();
  if (upper > lower) {
    axis.low = std::max(axis.low, lower - 3 * (upper - lower));
    axis.high = std::min(axis.high, upper + 3 * (upper - lower));
  }
  const double least = std::max({std::abs(axis.low), std::abs(axis.high), 1e-300}) * 1e-6;
  const double margin = std::max((axis.high - axis.low) * 0.08, least);
  axis.low = values.front() < 0 ? axis.low - margin : std::max(axis.low - margin, 0.0);
  axis.high += margin;
  return axis;
}

}  // namespace ferry::chart
