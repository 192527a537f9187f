// Runs the steps of one plan (module/plan.h) on a device: they are prepared once, with all addresses and sizes known,
// and then run again and again in order. device-runtime/plan/ drives it. Steps name their device by its index in the
// module; a stream of one device has no use for that.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/status.h"
#include "device-runtime/measure/clock.h"
#include "ferry/timing.h"

namespace ferry::device {

// An operand of a step: an address in the device's memory, or the bytes of a number.
struct BoundOperand {
  bool is_memory = false;
  void* memory = nullptr;
  std::uint64_t bits = 0;
  std::size_t bytes = 0;  // size of the number
};

struct BoundNativeCall {
  std::uint32_t device = 0;
  const std::string* symbol = nullptr;
  std::vector<BoundOperand> operands;
  void* workspace = nullptr;
  std::uint64_t thread_workspace = 0;  // bytes
};

struct BoundLaunch {
  std::uint32_t device = 0;
  std::string kernel;
  std::array<std::uint64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint64_t shared_bytes = 0;
  std::vector<BoundOperand> operands;
};

// The ranges do not overlap.
struct BoundCopy {
  void* to = nullptr;
  void* from = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t to_device = 0, from_device = 0;
};

struct BoundFill {
  void* to = nullptr;
  std::uint64_t bytes = 0;
  std::uint8_t pattern_bytes = 1;
  std::uint32_t pattern = 0;
  std::uint32_t device = 0;
};

// The address at which a GPU leaves an int32 result. It is complete after the step of that result.
struct ResultPlace {
  void* memory = nullptr;
  std::uint32_t device = 0;
  std::uint32_t first_message = 0;
};

// The result of a step that did not run, because a launch before it has left a result other than 0 at its place.
inline constexpr std::int32_t kLaunchFailed = std::numeric_limits<std::int32_t>::min();

// The outcome of running all steps: the first result other than 0, and its step.
struct Outcome {
  std::int32_t result = 0;
  std::size_t step = 0;
};

// Functions that return an std::int32_t return 0 on success; if another result is not that of a native call, failure()
// has the reason.
class Stream {
 public:
  virtual ~Stream() = default;

  // Prepare the next step. Steps are numbered from 0 in the order of these calls. The message of a refusal names the
  // kernel and both numbers.
  virtual Status add(BoundNativeCall call) = 0;
  virtual Status add(BoundLaunch launch) = 0;
  virtual Status add(BoundCopy copy) = 0;
  virtual Status add(BoundFill fill) = 0;
  // Announces the result of the launches up to here. A stream of several devices reads it before the next call.
  virtual void add_result(const ResultPlace& /*place*/) {}
  // Replaces an operand of a step: memory by other memory, or a number by another of as many bytes. The operands of a
  // copy are `to` (0) and `from` (1), that of a fill is `to` (0). Steps before this call run with what it was before.
  virtual std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) = 0;
  // Returns the name and the extents of a step, without times.
  virtual StepTime describe(std::size_t step) const = 0;

  // Runs a step after all steps before. A CPU returns the result of a call; a GPU returns before the step has ended.
  // With `traced`, a crash can be attributed to its step, which costs a little time.
  virtual std::int32_t run(std::size_t step, bool traced) = 0;
  // Runs the first `steps` steps in order, `times` times or until a result other than 0.
  virtual Outcome run_all(std::size_t steps, std::uint64_t times, bool traced);
  // Returns when everything has ended.
  virtual std::int32_t wait() { return 0; }

  // Measure what runs between the two calls, with the clock that suits the device best; the time is known after wait().
  // A slot may be used again.
  virtual std::int32_t start_timing(std::size_t slot);
  virtual std::int32_t end_timing(std::size_t slot);
  virtual std::int32_t elapsed(std::size_t slot, std::int64_t& elapsed_ns) const;
  // Resolution of that clock; 0: it is the processor's.
  virtual std::int64_t clock_resolution_ns() const { return 0; }

  // Whether the stream can stay open between calls: it refers to the memory of its operands by addresses alone.
  virtual bool may_stay_open() const { return false; }

  // Returns why the device could not run a step; otherwise ok.
  virtual Status failure() const { return {}; }

 private:
  // The time of the start until the end. Samples use the first slot; it exists from the beginning, since an allocation
  // would take time and instructions that differ from sample to sample.
  std::vector<std::int64_t> elapsed_ns_ = std::vector<std::int64_t>(1);
};

}  // namespace ferry::device
