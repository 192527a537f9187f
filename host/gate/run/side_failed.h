// The kernel of one of the sides of a case fails.
#pragma once

#include <cstdint>
#include <string>

#include "ferry/error.h"
#include "host/kernel/kernel_failure.h"

namespace ferry::gate {

// `unknown`: one of both, in a process that ran both.
enum class WhichSide : std::uint8_t { baseline, current, unknown };

class SideFailed : public Error {
 public:
  SideFailed(WhichSide side, const std::string& message) : Error(ErrorCode::kernel_crashed, message), side_(side) {}
  WhichSide side() const { return side_; }

 private:
  WhichSide side_;
};

// Returns the result of `work`, which runs this side alone: if the kernel fails, so has the side.
template <class Work>
auto run_side(WhichSide side, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    throw SideFailed(side, error.what());
  }
}

}  // namespace ferry::gate
