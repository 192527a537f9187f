// The exceptions of the compiler, the client and the services of the host. Nothing under rpc/ or device-runtime/ throws
// them. CompileError, in crosscompile/ir/error.h, adds a place in a text.
#pragma once

#include "ferry/error_code.h"

#include <stdexcept>
#include <string>

namespace ferry {

// An error with a code that tells the caller how to react.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// The caller asked for something that cannot be done; the code is invalid_argument.
class __attribute__((visibility("default"))) UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ErrorCode::invalid_argument, message) {}
};

// The session with a server is lost; the code is unavailable.
class __attribute__((visibility("default"))) ConnectionLost : public Error {
 public:
  ConnectionLost(const std::string& message, bool nothing_ran)
      : Error(ErrorCode::unavailable, message), nothing_ran_(nothing_ran) {}
  // Whether the server was not yet asked to run anything, so that all of it may safely be repeated.
  bool nothing_ran() const { return nothing_ran_; }

 private:
  bool nothing_ran_;
};

}  // namespace ferry
