// Times repeatable operations in turns. It returns raw samples; statistics are left to the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "ferry/timing.h"

namespace ferry::device {

inline constexpr std::uint32_t kMaxRepeat = 1'000'000;
inline constexpr double kMaxMilliseconds = 3'600'000;

// An operation to time. A failure ends the measurement.
class Workload {
 public:
  virtual ~Workload() = default;
  // Runs one call; returns 0 on success.
  virtual std::int32_t run() = 0;
  // Runs `calls` calls and measures their total time with the clock that suits this workload best: the processor's,
  // minus the overhead of reading it, or the device's own clock if it has one. Stops at the first non-zero result and
  // returns it.
  virtual std::int32_t sample(std::uint64_t calls, std::int64_t& elapsed_ns);
  // Runs the first call, and measures it by the processor's clock at least: if it fails, failure() says as much as
  // after run().
  virtual std::int32_t first_call(std::int64_t& elapsed_ns) { return Workload::sample(1, elapsed_ns); }
  // How many calls of a sample it makes before another workload may take its turn; 0: all.
  virtual std::uint64_t calls_in_turn() const { return 0; }
  // How long a sample took in all, given the time that was measured: some have work to do beside their calls.
  virtual std::int64_t spent_ns(std::int64_t elapsed_ns) const { return elapsed_ns; }
  // Resolution of that clock; 0: it is the processor's.
  virtual std::int64_t clock_resolution_ns() const { return 0; }
  // Whether other work ran on the processor during the last sample. Nothing if the system knows that only about the
  // calling thread.
  virtual std::optional<bool> was_interrupted() const { return std::nullopt; }
  // Returns the steps of one call, if a device runs several operations for it and can time each.
  virtual std::vector<StepTime> steps() const { return {}; }
  // Runs one call and times its steps: one duration per step, in the order of steps().
  virtual std::int32_t run_timed(std::span<std::int64_t> /*elapsed_ns*/) { return run(); }
  // Returns why the last run failed, if the device and not the kernel reported the failure; otherwise ok.
  virtual Status failure() const { return {}; }
};

// Callbacks around every sample, outside of the timed part.
class SampleHooks {
 public:
  virtual ~SampleHooks() = default;
  // Called when the rounds begin.
  virtual void warmed_up() {}
  // Prepares the memory that the workload writes.
  virtual void prepare(std::size_t /*workload*/) {}
  // Evicts the memory that the workload accesses from the caches.
  virtual void cool(std::size_t /*workload*/) {}
  virtual void begin(std::size_t /*workload*/) {}
  // calls is 0 if the sample was too short to count; the sample took spent_ns in all.
  virtual void end(std::size_t /*workload*/, std::uint64_t /*calls*/, std::int64_t /*spent_ns*/) {}
  // Whether the workload is to run once more after the rounds, prepared as before a sample.
  virtual bool wants_last_call(std::size_t /*workload*/) { return false; }
};

struct Failure {
  std::int32_t result = 0;  // the first non-zero result; the measurement is then invalid
  std::size_t workload = 0;
};

// Implements evaluate as PROTOCOL.md defines it: fills in the samples of each workload, how the measurement ended, its
// duration, and the overhead and resolution of the clock. The clock's overhead is subtracted from every sample. Fails
// with invalid_argument if the plan exceeds the limits. The plan's cores, threads and files are handled by the caller.
Result<Failure> measure(const BenchOptions& plan, std::span<Workload* const> workloads, SampleHooks& hooks,
                        Evaluation& into);

}  // namespace ferry::device
