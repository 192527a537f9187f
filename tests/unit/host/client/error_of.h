// The error that a test expects.
#pragma once

#include <doctest/doctest.h>

#include "base/throw_status.h"

namespace ferry::test {

// Returns the Error that f throws, for its code and message; fails the test if it throws none.
template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  FAIL("expected an Error, got none");
  return {ErrorCode::ok, ""};
}

}  // namespace ferry::test
