// Mistakes in the options of a service, with the option that is at fault: the message itself names no option, because
// each caller calls them differently.
#pragma once

#include <string>

#include "ferry/error.h"

namespace ferry {

// The choices that KernelOptions, ScheduleOptions, CallOptions and the requests of other services leave to a user.
enum class Option {
  kernel,      // the file or the text
  function,    // which of several
  signature,   // of a kernel that ferry did not write
  fixed_size,  // the message starts with what was given: "M=four: expected ..."
  schedule,
  knob,      // as of a fixed size
  argument,  // as of a fixed size
  size,      // as of a fixed size
  sizes,     // some are missing
  target,    // as of a fixed size
  reference  // the kernel to check against
};

class __attribute__((visibility("default"))) OptionError : public UsageError {
 public:
  OptionError(Option option, const std::string& message) : UsageError(message), option_(option) {}
  Option option() const { return option_; }

 private:
  Option option_;
};

}  // namespace ferry
