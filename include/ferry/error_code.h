// Codes of errors, which tell the caller how to react. Both sides of the wire use the same ones.
#pragma once

#include <cstdint>

namespace ferry {

// The values are used on the wire and are never reused.
#define FERRY_ERROR_CODES(X)                                                                         \
  X(0, ok)                                                                                           \
  X(1, invalid_argument)   /* the caller must change the request */                                  \
  X(2, not_found)          /* the handle, module or function does not exist */                       \
  X(3, unsupported)        /* this server or device does not support it */                           \
  X(4, version_mismatch)   /* the message names both versions */                                     \
  X(5, resource_exhausted) /* a limit or the memory is exhausted */                                  \
  X(6, deadline_exceeded)  /* ran longer than allowed */                                             \
  X(7, kernel_crashed)     /* the kernel ended the session: the message names function and signal */ \
  X(8, device_error)       /* the device or its driver failed */                                     \
  X(9, unauthenticated)    /* wrong or missing key */                                                \
  X(10, busy)              /* try later */                                                           \
  X(11, unavailable)       /* there is no answer, or the connection is gone */                       \
  X(12, aborted)           /* depends on a request that failed: the message names it */              \
  X(13, protocol_error)    /* the peer does not speak this protocol */                               \
  X(14, internal)          /* a bug in ferry */

enum class ErrorCode : std::uint16_t {
#define FERRY_ENUM(value, name) name = value,
  FERRY_ERROR_CODES(FERRY_ENUM)
#undef FERRY_ENUM
};

// Returns the name as listed above; "unknown" for a value from a newer peer.
const char* error_name(ErrorCode code);

}  // namespace ferry
