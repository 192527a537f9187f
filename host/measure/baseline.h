// Compares measurements with those of an earlier run, as `ferry bench --json` printed them.
//
// Both runs are processes of their own, each with one layout of code and data, at another time. A difference of a few
// percent may come from that alone; compare kernels side by side (host/measure/compare.h) where it matters.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ferry/bench/measurement.h"

namespace ferry::bench {

struct BaselineResult {
  std::string function, device;
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, std::string> knobs;
  double median = 0;
  stats::Interval interval;  // contains the median, at 95%
  Method method;
};

// Parses the JSON of an earlier run. `name` is the file's in messages. Throws UsageError for another text.
std::vector<BaselineResult> parse_baseline(const std::string& text, const std::string& name);

// Returns the earlier result of the same function with the same sizes and knobs, on the same device if there are
// several; null if there is none.
const BaselineResult* find(const std::vector<BaselineResult>& baseline, const Measurement& measurement);

// Returns why the times of both cannot be compared, in a sentence; empty if they can.
std::string why_incomparable(const BaselineResult& baseline, const Measurement& measurement);

// A time over that of the baseline.
struct Change {
  double baseline = 0;       // seconds, the earlier median
  double ratio = 1;          // between the medians
  double low = 1, high = 1;  // from the ends of both intervals: 0 and infinity if one of them is not known

  bool is_known() const { return std::isfinite(high); }
  bool is_slower() const { return low > 1; }
  bool is_faster() const { return high < 1; }
};
Change change_from(const BaselineResult& baseline, const Measurement& measurement);

// Returns "1.20 times the baseline's 12.3 us [1.15, 1.25]: slower".
std::string to_text(const Change& change);

}  // namespace ferry::bench
