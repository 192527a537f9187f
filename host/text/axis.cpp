#include "host/text/axis.h"

#include <algorithm>
#include <cmath>

namespace ferry::chart {

namespace {

constexpr double kMarginShare = 0.08, kLogarithmicMarginShare = 0.04;
constexpr double kLeastMarginShare = 1e-6, kLeastLogarithmicMargin = 0.01;
constexpr double kMostExponent = 300;
// A range with fewer of the values 1, 2 and 5 times a power of ten has ticks as a linear axis.
constexpr std::size_t kLeastTicks = 3;

std::vector<double> linear_ticks(double low, double high, int count) {
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

// Returns the powers of ten whose exponents are multiples of `step`, each also times the other factors.
std::vector<double> decades(double low, double high, int step, const std::vector<double>& factors) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::floor(std::log10(low)) / step)) * step;
  for (int exponent = first; exponent <= std::log10(high) + 1; exponent += step) {
    for (const double factor : factors) {
      // A power of ten below 1 is exact to the last bit only as a quotient.
      const double tick = exponent < 0 ? factor / std::pow(10, -exponent) : factor * std::pow(10, exponent);
      if (tick >= low && tick <= high) ticks.push_back(tick);
    }
  }
  return ticks;
}

std::vector<double> logarithmic_ticks(double low, double high, int count) {
  const auto most = static_cast<std::size_t>(count + count / 2);
  std::vector<double> ticks = decades(low, high, 1, {1, 2, 5});
  if (ticks.size() < kLeastTicks) return linear_ticks(low, high, count);
  for (int step = 1; ticks.size() > most; ++step) {
    std::vector<double> fewer = decades(low, high, step, {1});
    if (fewer.empty()) break;
    ticks = std::move(fewer);
  }
  return ticks;
}

Axis logarithmic_axis(std::vector<double> values, double from, double to) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  Axis axis{1, 10, from, to, Scale::logarithmic};
  if (values.empty()) return axis;
  const auto [least, most] = std::ranges::minmax(values);
  const double low = std::log10(least), high = std::log10(most);
  const double margin = std::max((high - low) * kLogarithmicMarginShare, kLeastLogarithmicMargin);
  const auto value_at = [](double exponent) {
    return std::pow(10, std::clamp(exponent, -kMostExponent, kMostExponent));
  };
  axis.low = value_at(low - margin);
  axis.high = value_at(high + margin);
  return axis;
}

}  // namespace

double Axis::place(double value) const {
  const double inside = std::clamp(value, low, high);
  const double share =
      scale == Scale::logarithmic ? std::log(inside / low) / std::log(high / low) : (inside - low) / (high - low);
  return from + (to - from) * share;
}

std::vector<double> Axis::ticks(int count) const {
  return scale == Scale::logarithmic ? logarithmic_ticks(low, high, count) : linear_ticks(low, high, count);
}

Axis axis_around(std::vector<double> values, double from, double to, Scale scale) {
  if (scale == Scale::logarithmic) return logarithmic_axis(std::move(values), from, to);
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
  const double least = std::max({std::abs(axis.low), std::abs(axis.high), 1e-300}) * kLeastMarginShare;
  const double margin = std::max((axis.high - axis.low) * kMarginShare, least);
  axis.low = values.front() < 0 ? axis.low - margin : std::max(axis.low - margin, 0.0);
  axis.high += margin;
  return axis;
}

Scale scale_for(const std::vector<double>& values) {
  if (values.empty()) return Scale::linear;
  const auto [least, most] = std::ranges::minmax(values);
  return least > 0 && most > 10 * least ? Scale::logarithmic : Scale::linear;
}

}  // namespace ferry::chart
