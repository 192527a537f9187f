// A kernel that ran and failed.
#pragma once

#include <string>

#include "ferry/api.h"
#include "ferry/error.h"

namespace ferry {

// A data-dependent index was out of bounds, or the kernel returned a number other than 0. The error's code is
// kernel_crashed.
class FERRY_API KernelFailed : public Error {
 public:
  explicit KernelFailed(const std::string& message) : Error(ErrorCode::kernel_crashed, message) {}
};

}  // namespace ferry
