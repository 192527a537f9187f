// The history of a case as one self-contained HTML page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/gate/history/history.h"

namespace ferry::gate {

struct HistoryOf {
  std::string suite, name;   // the case's
  std::string version = {};  // ferry's
};

// Returns a page with a chart and a table for each series; of long tables only the latest `most_rows`.
std::string history_page(const HistoryOf& of, const std::vector<HistorySeries>& all, std::size_t most_rows);

}  // namespace ferry::gate
