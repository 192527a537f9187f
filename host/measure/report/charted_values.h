// Values of a chart: what it shows of each measurement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ferry/bench/measurement.h"
#include "host/text/chart.h"

namespace ferry::bench {

enum class Charted : std::uint8_t { seconds, flops, bytes };

struct ChartedWords {
  const char* heading;  // "Time"
  const char* title;    // "Median time"
  const char* peak;     // how the peak was measured; empty: there is none
  chart::LabelsOf labels;
};
const ChartedWords& words_of(Charted charted);

// A value with the ends of its 95% interval; both are the value if these are not known.
struct ChartedValue {
  double value, low, high;
};
// Returns nothing for a value that is not positive and finite, such as a time that the device's clock cannot tell.
std::optional<ChartedValue> value_of(const Measurement& report, Charted charted);
// Returns the device's measured peak; 0 if it is not known.
double peak_of(const Measurement& report, Charted charted);
// Returns "1.23 ms [1.20 ms, 1.25 ms]".
std::string text_of(const ChartedValue& value, Charted charted);

}  // namespace ferry::bench
