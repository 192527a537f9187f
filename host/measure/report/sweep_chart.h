// Charts of a swept variable: times or rates over its values, with a line for each series.
#pragma once

#include <string>

#include "host/measure/report/charted_values.h"
#include "host/measure/report/series.h"
#include "host/text/html.h"

namespace ferry::bench {

// Lines of one chart beyond these are only in the table.
inline constexpr std::size_t kMostLines = 24;

// Writes a figure, with its legend if there are several series. Numbers have an axis, logarithmic if they span more
// than an order of magnitude; choices have rows. Writes nothing if no measurement has a value to show. `id` begins the
// ids of its elements.
void write_sweep_chart(html::Html& html, const Variable& variable, Charted charted, const std::string& id);

}  // namespace ferry::bench
