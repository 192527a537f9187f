// Compares the times that a session measures with the supervisor's own clock and with the processor time of the
// session's process. Kernels run in the process that measures them and could change its clock. They could also change
// what the session says about it (handlers/activity.h), so that agreement proves nothing.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "device-runtime/supervisor/seen_activity.h"

namespace ferry::device {

class TimeClaims {
 public:
  // The session's kernels use so many threads.
  explicit TimeClaims(std::uint32_t threads);

  // Returns kernel_crashed if what the session says to have measured in an evaluation took more time than passed, or
  // only a part of the time during which it was busy, or ended before it can have ended. `seen` was read between
  // `before` and `after`, and `processor_ns` about then. To find that takes two checks during the evaluation, and a
  // sample that ends between them.
  Status check(const SeenActivity& seen, std::int64_t before, std::int64_t after, std::int64_t processor_ns);

 private:
  // What was known when the evaluation was first seen.
  struct Begin {
    std::uint64_t evaluation = 0;  // 0: there was none yet
    std::uint64_t samples = 0;
    std::int64_t measured_ns = 0, after = 0, processor_ns = 0;
    std::int64_t looked = 0;  // `before` of the check that preceded
  };
  std::int64_t between_ns_;
  Begin begin_;
  std::uint64_t samples_ = 0;  // seen by the last check
  std::int64_t looked_ = 0;    // `before` of the last check
};

}  // namespace ferry::device
