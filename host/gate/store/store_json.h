// The texts of a store: baselines and lines of the history as JSON (docs/gate.md).
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "host/gate/store/store.h"

namespace ferry::gate {

std::string baseline_text(const Baseline& baseline);
// invalid_argument says where the text is no baseline.
Result<Baseline> parse_baseline(std::string_view text);

// A line without its end.
std::string history_line(const HistoryEntry& entry);
Result<HistoryEntry> parse_history_line(std::string_view line);

}  // namespace ferry::gate
