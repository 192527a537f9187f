#include "ferry/client.h"

#include <algorithm>

#include "host/stats/summary.h"

namespace ferry {

double Timing::median() const { return stats::median(seconds); }

double Timing::minimum() const { return seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end()); }

double Timing::deviation() const { return stats::median_deviation(seconds); }

}  // namespace ferry
