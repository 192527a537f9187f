// The error that a test expects.
#pragma once

#include <doctest/doctest.h>

#include "host/session/remote_error.h"

namespace ferry::test {

// Returns the RemoteError that f throws, for its code and message; fails the test if it throws none.
template <class F>
RemoteError error_of(F f) {
  try {
    f();
  } catch (const RemoteError& error) {
    return error;
  }
  FAIL("expected a RemoteError, got none");
  return {ErrorCode::ok, ""};
}

}  // namespace ferry::test
