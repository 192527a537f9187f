// The exit codes of ferry.
#pragma once

#include <string>

#include "ferry/error.h"

namespace ferry::cli {

// The single list of exit codes, used by the help, docs/exit_codes.md and the tests.
#define FERRY_EXIT_CODES(X)                                                                            \
  X(0, kExitFine, "fine")                                                                              \
  X(1, kExitWrongResult, "a wrong result, a kernel that failed, or a difference that was asked about") \
  X(2, kExitUserError, "a mistake in the command, the kernel, its arguments or a file")                \
  X(3, kExitDevice, "the device or the connection")                                                    \
  X(4, kExitBug, "a bug of ferry's own")                                                               \
  X(5, kExitUnknown, "nobody can tell (bench, compare --fail-if-slower; gate)")

enum ExitCode : int {
#define FERRY_ENUM(number, name, meaning) name = number,
  FERRY_EXIT_CODES(FERRY_ENUM)
#undef FERRY_ENUM
};

// Returns "Exit codes: 0 fine; 1 ...", in lines as wide as those of the help.
std::string exit_codes_text();

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
