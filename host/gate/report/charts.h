// Charts of a result as SVG. Each has a title and a description in words; nothing is told by colour alone.
#pragma once

#include <string>

#include "host/gate/api/report.h"
#include "host/text/html.h"

namespace ferry::gate {

// A bar as wide as four tolerances on both sides of "no change", with the interval of the change; draws nothing of a
// result without measurements.
void write_change_bar(html::Html& html, const CaseResult& result);
// The medians of the processes of both sides on one axis. `id` begins the ids of its parts.
void write_times_chart(html::Html& html, const CaseResult& result, const std::string& id);
// The pairs in their order, with the interval as it narrowed.
void write_pairs_chart(html::Html& html, const CaseResult& result, const std::string& id);

}  // namespace ferry::gate
