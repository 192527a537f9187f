// A page about measurements: charts over what was swept, the samples where nothing was, and a table of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/bench/measurement.h"
#include "host/measure/baseline.h"

namespace ferry::bench {

struct PageFailure {
  std::string device;
  std::string message;
};

struct BenchPage {
  const std::vector<Measurement>& reports;
  const std::vector<std::optional<Change>>& changes;  // one for each report, or none without a baseline
  std::vector<PageFailure> failures = {};
  std::vector<std::string> swept = {};  // names of sizes and knobs
  std::string kernel = {};              // the file's name
  std::string baseline = {};            // the file's name; empty without one
  std::uint64_t when = 0;               // milliseconds since 1970; 0: not said
  std::uint64_t seed = 0;               // random inputs are drawn from it
  bool is_interrupted = false;
  std::string version = {};  // ferry's
};

// Returns the page, which needs and runs nothing else.
std::string bench_page(const BenchPage& page);

}  // namespace ferry::bench
