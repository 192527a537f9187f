// Draws a board's health checks as a chart: the median of each, relative to its baseline, over time.
#pragma once

#include <vector>

#include "farm/protocol/queries.h"
#include "host/text/html.h"

namespace ferry::farm::http {

// Writes nothing if there is no check with a baseline. `checks` are newest first, as in a HealthPage.
void write_health_chart(html::Html& html, const std::vector<wire::HealthListing>& checks);

}  // namespace ferry::farm::http
