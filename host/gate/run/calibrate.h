// Measures on a user's own board how often the gate is wrong, and how small a slowdown it finds.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/run/measure_pair.h"

namespace ferry::gate {

struct CalibrateRequest {
  const Compiler& compiler;
  double tolerance = 0.02;
  double error_level = 0.01;  // for each verdict
  std::uint32_t most_pairs = 64;
  std::uint32_t runs = 20;                                       // verdicts for each slowdown
  std::vector<double> slowdowns = {0, 0.005, 0.01, 0.02, 0.05};  // 0: both sides are the same kernel
  std::uint64_t seed = 0;
  MeasurePair measure = measure_pair;
};

// The verdicts on a planted slowdown.
struct CalibratedSlowdown {
  double slowdown = 0;
  std::uint32_t runs = 0;  // verdicts: fewer than requested for the last slowdown of a calibration that ended early
  std::uint32_t slower = 0, no_change = 0, faster = 0, cannot_tell = 0;
  double mean_pairs = 0, mean_seconds = 0;  // for a verdict
  double mean_ratio = 0;                    // the slowdown that was measured, as a ratio
  double pair_deviation = 0;                // standard deviation of the pairs' log-ratios
};

struct Calibration {
  Environment environment;
  std::vector<CalibratedSlowdown> slowdowns;  // those with a verdict
  bool is_interrupted = false;
  std::exception_ptr failure;  // what ended it early; null: nothing did
};

// Compares a kernel whose time is proportional to the number of its iterations with the same kernel with more of them.
// Throws Error if the board fails before the first measurement.
Calibration calibrate(const CalibrateRequest& request, const OpenSession& open, const Observer& observer);

}  // namespace ferry::gate
