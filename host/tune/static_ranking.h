// Ranks the schedules of a kernel by the cost model alone: nothing is compiled, and no device is needed.
#pragma once

#include "ferry/target/target.h"
#include "host/tune/search/modelled_points.h"
#include "host/tune/tune.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::tune {

struct StaticRanking {
  std::string function;
  std::map<std::string, std::int64_t> sizes;
  std::string target;
  std::uint64_t points = 0;              // in the space, for the default's decisions
  std::size_t estimated = 0;             // how many of these points were
  double seconds = 0;                    // the time for it
  double default_cycles = 0;             // the default schedule's
  std::vector<ModelledPoint> best = {};  // the fastest first; they cost cycles of a call on one core of the target
};

// All points of a space with at most so many are estimated, unless options.trials says another number; in larger ones
// the points that descents of the model come by.
inline constexpr std::uint64_t kMostRanked = 4000;

// Takes the call, trials, threads and seed from the options. Returns the best `count` points. Throws UsageError for a
// kernel that has no space, or that the model does not know: for GPUs, and with sizes left open.
StaticRanking rank_statically(const TunedKernel& kernel, const Target& target, const TuneOptions& options,
                              std::size_t count);

}  // namespace ferry::tune
