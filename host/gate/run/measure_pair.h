// One pair of measurements of the two modules of a case.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/gate/api/report.h"
#include "host/gate/run/side_failed.h"
#include "host/gate/run/side_module.h"
#include "host/measure/paired_run.h"
#include "host/stats/random.h"

namespace ferry::gate {

// `governor` is empty if the board has none, or before a measurement has told.
Environment environment_of(const bench::RanOn& on, const std::string& governor);

// Throws Error (unavailable) if they differ: times of one are not comparable with those of the other.
void expect_same_environment(const Environment& before, const Environment& after);

struct MeasuredPair {
  Pair pair;
  Environment environment;
  std::vector<std::string> warnings;
  bench::Method method = {};
  std::string impossible = {};  // why the times cannot be true, in a sentence; empty: they can
};

// Measures both sides in turns in one process. `current_first` says which of them is loaded and called first; where
// both have their tensors is drawn. Throws SideFailed, and Error as bench::paired_run().
MeasuredPair measure_pair(const OpenSession& open, const RunSettings& settings, const PerSide<MeasuredSide>& sides,
                          std::uint32_t layout, bool current_first, stats::Random& random, const Observer& observer);

// measure_pair(), but for tests.
using MeasurePair = std::function<MeasuredPair(const OpenSession& open, const RunSettings& settings,
                                               const PerSide<MeasuredSide>& sides, std::uint32_t layout,
                                               bool current_first, stats::Random& random, const Observer& observer)>;

struct MeasuredCase : RunSettings {
  MeasurePair measure = measure_pair;
};

}  // namespace ferry::gate
