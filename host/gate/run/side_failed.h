// The kernel of one of the sides of a case fails.
#pragma once

#include <cstdint>
#include <string>

#include "ferry/error.h"

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

}  // namespace ferry::gate
