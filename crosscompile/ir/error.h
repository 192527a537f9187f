// The exceptions that the compiler throws.
#pragma once

#include <stdexcept>
#include <string>

namespace ferry {

// A user error: the message says what was expected and what was found instead, in the user's own names.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An error in ferry: an invariant is violated that should hold whatever the user wrote.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace ferry
