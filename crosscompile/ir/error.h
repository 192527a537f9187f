// What the compiler throws.
#pragma once

#include <stdexcept>
#include <string>

namespace ferry {

// The user's mistake: the message says what was expected and what came instead, in the user's own names.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A mistake of ours: an invariant that should hold whatever the user wrote.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace ferry
