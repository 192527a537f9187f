// The times of a case over its history, as series that can be compared: one for each environment and each method by
// which they were taken.
#pragma once

#include <string>
#include <vector>

#include "host/gate/store/store.h"
#include "host/stats/change_points.h"

namespace ferry::gate {

struct HistorySeries {
  std::string target;
  Environment environment;
  bench::Method method;
  std::vector<HistoryEntry> entries;  // in the order in which they were added
  // The places where the level of the times changes, for people; `index` is that of an entry.
  std::vector<stats::ChangePoint> changes;
};

// Entries without a time, such as those of unchanged modules, belong to the series of their environment but not to its
// levels. The series are in the order of their first entries.
std::vector<HistorySeries> series_of(std::vector<HistoryEntry> history);

}  // namespace ferry::gate
