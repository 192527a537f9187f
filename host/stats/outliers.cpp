#include "host/stats/outliers.h"

#include "host/stats/summary.h"

namespace ferry::stats {

const char* to_text(OutlierLabel label) {
  switch (label) {
    case OutlierLabel::none: return "";
    case OutlierLabel::low_severe: return "low severe";
    case OutlierLabel::low_mild: return "low mild";
    case OutlierLabel::high_mild: return "high mild";
    case OutlierLabel::high_severe: return "high severe";
  }
  return "";
}

std::vector<OutlierLabel> label_outliers(std::span<const double> samples) {
  const std::vector<double> ascending = sorted(samples);
  const double first = quantile_of_sorted(ascending, 0.25), third = quantile_of_sorted(ascending, 0.75);
  const double range = third - first;
  std::vector<OutlierLabel> labels;
  labels.reserve(samples.size());
  for (const double sample : samples) {
    labels.push_back(sample < first - 3 * range     ? OutlierLabel::low_severe
                     : sample < first - 1.5 * range ? OutlierLabel::low_mild
                     : sample > third + 3 * range   ? OutlierLabel::high_severe
                     : sample > third + 1.5 * range ? OutlierLabel::high_mild
                                                    : OutlierLabel::none);
  }
  return labels;
}

}  // namespace ferry::stats
