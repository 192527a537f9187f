// Ranks the schedules of a kernel without a device: all by the cost model, and the best of them by the machine code to
// which they are compiled.
#pragma once

#include "ferry/target/target.h"
#include "host/compiler/api/space_point.h"
#include "host/tune/tune.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// Cycles are those of a call on one core of the target.
struct RankedPoint {
  double cycles = 0;                       // by the cost model
  std::optional<double> code_cycles = {};  // computing as its machine code says; nothing if that is not known
  SpacePoint point;
};

struct StaticRanking {
  std::string function;
  std::map<std::string, std::int64_t> sizes;
  std::string target;
  std::uint64_t points = 0;            // in the space, for the default's decisions
  std::size_t estimated = 0;           // how many of these points were
  double seconds = 0;                  // the time for it
  RankedPoint by_default = {};         // the default schedule
  std::vector<RankedPoint> best = {};  // the fastest first: those whose code is known by it, then others by the model
};

// All points of a space with at most so many are estimated, unless options.trials says another number; in larger ones
// the points that descents of the model come by.
inline constexpr std::uint64_t kMostRanked = 4000;
// So many different schedules are compiled, the model's best.
inline constexpr std::size_t kCompiledSchedules = 16;

// Takes the call, trials, threads and seed from the options. Returns the best `count` points. Throws UsageError for a
// kernel that has no space, or that the model does not know: for GPUs, and with sizes left open.
StaticRanking rank_statically(const TunedKernel& kernel, const Target& target, const TuneOptions& options,
                              std::size_t count);

}  // namespace ferry::tune
