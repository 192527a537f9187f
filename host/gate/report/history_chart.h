// A chart of the times of a case over its history as SVG.
#pragma once

#include <string>

#include "host/gate/history/history.h"
#include "host/text/html.h"

namespace ferry::gate {

// Only the latest are drawn of more entries than this that have a time.
inline constexpr std::size_t kMostCharted = 1000;

// Draws the time of each measured commit with its interval, the levels and where they change; writes nothing of a
// series without times. Where no entry has a time, it draws the counts of instructions. `id` begins the ids of its
// parts.
void write_history_chart(html::Html& html, const HistorySeries& series, const std::string& id);

}  // namespace ferry::gate
