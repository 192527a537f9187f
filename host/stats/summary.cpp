#include "host/stats/summary.h"

#include <algorithm>
#include <cmath>

namespace ferry::stats {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> ascending(samples.begin(), samples.end());
  std::sort(ascending.begin(), ascending.end());
  return ascending;
}

double quantile_of_sorted(std::span<const double> ascending, double fraction) {
  if (ascending.empty()) return 0;
  const double place = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double part = place - static_cast<double>(below);
  return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

double median(std::span<const double> samples) { return quantile_of_sorted(sorted(samples), 0.5); }

double median_deviation(std::span<const double> samples) {
  const double middle = median(samples);
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (const double sample : samples) distances.push_back(std::abs(sample - middle));
  return median(distances);
}

}  // namespace ferry::stats
