#include <algorithm>
#include <cmath>

#include "host/session/ferry.h"

namespace ferry {

namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

double Timing::median() const { return median_of(seconds); }

double Timing::minimum() const { return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end()); }

double Timing::deviation() const {
  const double middle = median();
  std::vector<double> distances;
  for (const double value : seconds) distances.push_back(std::abs(value - middle));
  return median_of(distances);
}

}  // namespace ferry
