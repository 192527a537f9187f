// Times things that can be done again and again, in turns. Raw samples come out: statistics are the client's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rpc/base/status.h"
#include "rpc/messages.h"

namespace ferry::device {

inline constexpr std::uint32_t kMaxRepeat = 1'000'000;
inline constexpr double kMaxMilliseconds = 3'600'000;

// What is timed. A failure ends the measurement.
class Workload {
 public:
  virtual ~Workload() = default;
  // One call; 0 when it went well.
  virtual std::int32_t run() = 0;
  // So many calls one after the other, and how long they took by the clock that serves this workload best: the
  // processor's, without what reading it takes, unless a device has one of its own. The first result that is not 0 ends
  // it.
  virtual std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns);
  // Of that clock; 0: the processor's.
  virtual std::int64_t clock_resolution_ns() const { return 0; }
  // What one call is made of, where a device runs several things for it and can time each.
  virtual std::vector<rpc::StepTiming> steps() const { return {}; }
  // One call with its steps timed: a duration each, in the order of steps().
  virtual std::int32_t run_timed(std::span<std::int64_t> /*elapsed_ns*/) { return run(); }
  // Why the last one did not, where a device and not the kernel says so; else ok.
  virtual Status failure() const { return {}; }
};

// What is done around every sample, outside of the timed part.
class SampleHooks {
 public:
  virtual ~SampleHooks() = default;
  // The rounds begin.
  virtual void warmed_up() {}
  // Take what the workload touches out of the caches.
  virtual void cool(std::size_t /*workload*/) {}
  virtual void begin() {}
  // calls is 0 when the sample was too short to count.
  virtual void end(std::size_t /*workload*/, std::uint64_t /*calls*/) {}
};

struct Failure {
  std::int32_t result = 0;  // the first non-zero one; the measurement then means nothing
  std::size_t workload = 0;
};

// As PROTOCOL.md says of evaluate: fills in the sets, one a workload, how it ended, how long it took and what the clock
// is worth. The reading of the clock itself is taken off every sample. invalid_argument when the plan is outside the
// limits; its calls, cores, threads and files are somebody else's.
Result<Failure> measure(const rpc::Evaluate& plan, std::span<Workload* const> workloads, SampleHooks& hooks,
                        rpc::Evaluation& into);

}  // namespace ferry::device
