// The error that a test expects.
#pragma once

#include <doctest/doctest.h>

#include "host/session/remote_error.h"

namespace ferry::test {

// What f throws, for its code and message; fails the test when it throws no RemoteError.
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
