// The exceptions that the compiler throws.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "ferry/error.h"

namespace ferry {

// A place in a text that a user wrote.
struct SourcePlace {
  std::string file = {};   // as messages call it
  std::size_t line = 0;    // from 1; 0: unknown
  std::size_t column = 0;  // from 1, in characters; 0: unknown

  bool is_known() const { return line != 0; }
};

// A mistake in a kernel, its schedule or its target; the code is invalid_argument. The message says what was expected
// and what was found instead, in the user's own names. It includes the place, if there is one.
class CompileError : public Error {
 public:
  explicit CompileError(const std::string& message, SourcePlace place = {})
      : Error(ErrorCode::invalid_argument, message), place_(std::move(place)) {}
  const SourcePlace& place() const { return place_; }

 private:
  SourcePlace place_;
};

// An error in ferry: an invariant is violated that should hold whatever the user wrote.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace ferry
