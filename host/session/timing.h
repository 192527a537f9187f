// How to measure, and what comes back: raw samples, and everything the device told of the circumstances.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "host/session/api.h"

namespace ferry {

struct BenchOptions {
  std::uint32_t number = 1;  // calls a sample, at least; 0: and as many as the device's clock asks for
  std::uint32_t repeat = 10;
  double min_repeat_ms = 5;
  double warmup_ms = 5;
  std::uint32_t max_repeat = 0;           // when larger than repeat: samples are added until the tolerance is met
  double tolerance = 0;                   // relative, of the median
  double timeout_ms = 0;                  // no sample starts later; 0: none
  double cooldown_ms = 0;                 // rest before each sample
  bool cold = false;                      // caches are emptied before each sample; then number 1, min_repeat_ms 0
  std::vector<std::uint32_t> cores = {};  // where threads may run; empty: anywhere
  std::uint32_t threads = 0;              // in parallel loops, at most; 0: as many as the device has
  std::vector<std::string> watch =
      {};  // small files of the device to read before and after (rpc/PROTOCOL.md, evaluate)
};

struct WatchedText {
  std::string path, before, after;
};

enum class TimingEnd : std::uint8_t { all_samples = 1, converged = 2, timeout = 3 };

// A kernel that a call launches on a GPU, timed by the device's events.
struct FERRY_API StepTime {
  std::string kernel;
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;  // that a block has; 0: the device does not tell
  std::uint32_t registers = 0;     // a thread; 0: the device does not tell
  std::vector<double> seconds;     // one a call

  double median() const;
};

struct FERRY_API Timing {
  std::vector<double> seconds;  // a call, one entry a sample
  std::uint64_t number = 0;     // calls a sample
  std::uint64_t warmup_calls = 0;
  std::uint32_t threads = 0;
  std::vector<std::uint32_t> switches;  // involuntary context switches in each sample
  std::vector<std::uint32_t> cores;     // where each sample ended
  // A call in user mode; not-a-number where the device did not count, then counters_errno is Linux's reason.
  double cycles = 0, instructions = 0, cache_misses = 0;
  std::uint32_t counters_errno = 0;
  TimingEnd ended = TimingEnd::all_samples;
  double elapsed_s = 0;
  std::uint64_t clock_resolution_ns = 0, clock_overhead_ns = 0;
  std::uint64_t wiped_bytes = 0;  // of a cold measurement that walked through memory instead of flushing lines
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  std::vector<WatchedText> watched;  // of the files that are there

  double median() const;
  double minimum() const;
  // The median of the distances to the median.
  double deviation() const;
};

}  // namespace ferry
