// The kernel of one of the sides of a case fails.
#pragma once

#include <optional>
#include <string>

#include "ferry/error.h"
#include "host/gate/api/side.h"
#include "host/kernel/kernel_failure.h"

namespace ferry::gate {

class SideFailed : public Error {
 public:
  SideFailed(std::optional<Side> side, const std::string& message)
      : Error(ErrorCode::kernel_crashed, message), side_(side) {}
  // Nothing: one of both, in a process that ran both.
  std::optional<Side> side() const { return side_; }

 private:
  std::optional<Side> side_;
};

// Returns the result of `work`, which runs this side alone: if the kernel fails, so has the side.
template <class Work>
auto run_side(Side side, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    throw SideFailed(side, error.what());
  }
}

}  // namespace ferry::gate
