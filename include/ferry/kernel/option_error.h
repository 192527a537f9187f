// Mistakes in the options of a service, with the option that is at fault: the message itself names no option, because
// each caller calls them differently.
#pragma once

#include <cstdint>
#include <string>

#include "ferry/api.h"
#include "ferry/error.h"

namespace ferry {

// The choices that KernelOptions, ScheduleOptions, CallOptions and the requests of other services leave to a user.
enum class Option : std::uint8_t {
  kernel,      // the file or the text
  function,    // says which of several
  signature,   // describes a kernel that ferry did not write
  launch,      // how a kernel in CUDA C is launched
  fixed_size,  // the message starts with what was given: "M=four: expected ..."
  schedule,
  knob,         // as of a fixed size
  point,        // as of a fixed size
  argument,     // as of a fixed size
  size,         // as of a fixed size
  sizes,        // some are missing
  target,       // as of a fixed size
  binding,      // an input of a network; as for a fixed size
  reference,    // the kernel to check against
  output,       // as of a fixed size
  expected,     // as of a fixed size
  dump,         // as of a fixed size
  preprocess,   // as of a fixed size
  sweep,        // as of a fixed size
  cores,        // where threads may run
  stage,        // a stage of compilation, to be shown; as for a fixed size
  same_results  // whether two kernels must compute the same
};

// The kernel that an option belongs to, where a service takes two.
enum class KernelOfPair : std::uint8_t { none, a, b };

class FERRY_API OptionError : public UsageError {
 public:
  OptionError(Option option, const std::string& message, KernelOfPair kernel = KernelOfPair::none)
      : UsageError(message), option_(option), kernel_(kernel) {}
  Option option() const { return option_; }
  KernelOfPair kernel() const { return kernel_; }

 private:
  Option option_;
  KernelOfPair kernel_;
};

}  // namespace ferry
