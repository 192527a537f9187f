// The samples of one measurement as a chart.
#pragma once

#include <string>

#include "ferry/bench/measurement.h"
#include "host/text/html.h"

namespace ferry::bench {

// Writes a figure: the samples in the order in which they were taken, and beside them how often times occur. `id`
// begins the ids of its elements.
void write_samples_chart(html::Html& html, const Measurement& report, const std::string& id);

}  // namespace ferry::bench
