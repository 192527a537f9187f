// Several measurements as a table, a row for each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ferry/bench/measurement.h"
#include "host/measure/baseline.h"
#include "host/text/columns.h"

namespace ferry::bench {

struct ResultTable {
  text::Rows rows = {};                 // the first has the names of the columns
  std::vector<bool> are_numbers = {};   // one for each column
  std::vector<std::string> notes = {};  // lines beneath, to which the column "notes" refers
  bool has_devices = false;             // there are several, with a column
};
// `changes` has an entry for each measurement, or none without a baseline. Columns that say nothing are left out.
ResultTable result_table(const std::vector<Measurement>& reports, const std::vector<std::optional<Change>>& changes);

// Whether the outputs were held against a definition or another kernel.
bool is_checked(const Measurement& report);

// Returns "M=512, N=512", and "rows=8".
std::string sizes_text(const Measurement& report);
std::string knobs_text(const Measurement& report);
// Returns the 95% interval of the median, "[1.9 us, 2.1 us]", or "unknown".
std::string interval_text(const Measurement& report);

}  // namespace ferry::bench
