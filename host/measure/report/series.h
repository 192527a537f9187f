// Sorts measurements into the lines of charts: one chart for each thing that varies, one line for each combination of
// the others.
#pragma once

#include <string>
#include <vector>

#include "ferry/bench/measurement.h"

namespace ferry::bench {

struct SeriesPoint {
  double place;  // the number, or the index of the choice
  const Measurement* measurement;
};

struct Series {
  std::string name = {};                 // "M=64, pi": the others' values; empty if nothing else varies
  std::vector<SeriesPoint> points = {};  // in ascending order of their places
};

// A swept size or knob that varies, or the devices if nothing else does.
struct Variable {
  std::string name = {};
  bool is_number = false;
  bool is_device = false;
  std::vector<std::string> values = {};  // numbers in ascending order, choices in the order of the measurements
  std::vector<double> places = {};       // one for each value
  std::vector<Series> series = {};
};

// Returns what varies, in the order of `swept`, the names of sizes and knobs. It points at the measurements.
std::vector<Variable> variables_of(const std::vector<Measurement>& reports, const std::vector<std::string>& swept);

}  // namespace ferry::bench
