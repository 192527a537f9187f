// The exceptions that the compiler throws: CompileError of ferry/error.h, and the one for its own errors.
#pragma once

#include <stdexcept>

#include "ferry/error.h"

namespace ferry {

// An error in ferry: an invariant is violated that should hold whatever the user wrote.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace ferry
