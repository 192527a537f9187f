// How a run of ferry ends.
#pragma once

#include <stdexcept>
#include <string>

#include "host/session/ferry.h"

namespace ferry::cli {

enum ExitCode : int {
  kExitFine = 0,
  kExitWrongResult = 1,  // a wrong result, or a kernel that failed
  kExitDiffers = 1,      // of `ferry diff`, as of diff
  kExitUserError = 2,    // usage, a compile error, arguments
  kExitDevice = 3,       // the device or the connection
  kExitBug = 4,          // ours
};

// What the user typed cannot be done.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::ok: return kExitFine;
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found: return kExitUserError;
    case ErrorCode::kernel_crashed:
    case ErrorCode::deadline_exceeded: return kExitWrongResult;
    case ErrorCode::internal: return kExitBug;
    case ErrorCode::unsupported:
    case ErrorCode::version_mismatch:
    case ErrorCode::resource_exhausted:
    case ErrorCode::device_error:
    case ErrorCode::unauthenticated:
    case ErrorCode::busy:
    case ErrorCode::unavailable:
    case ErrorCode::aborted:
    case ErrorCode::protocol_error: return kExitDevice;
  }
  return kExitDevice;  // a code of a newer server
}

}  // namespace ferry::cli
