// The exceptions of the compiler, the client and the services of the host. Nothing under rpc/ or device-runtime/ throws
// them.
#pragma once

#include "ferry/error_code.h"
#include "ferry/time_limit.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

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

// A location in a text that a user wrote.
struct SourceLocation {
  std::string file = {};   // as messages call it
  std::size_t line = 0;    // from 1; 0: unknown
  std::size_t column = 0;  // from 1, in characters; 0: unknown

  bool is_known() const { return line != 0; }
};

// A mistake in a kernel, its schedule or its target; the code is invalid_argument. The message says what was expected
// and what was found instead, in the user's own names. It includes the location, if there is one.
class __attribute__((visibility("default"))) CompileError : public Error {
 public:
  explicit CompileError(const std::string& message, SourceLocation location = {})
      : Error(ErrorCode::invalid_argument, message), location_(std::move(location)) {}
  const SourceLocation& location() const { return location_; }

 private:
  SourceLocation location_;
};

// A time limit of the server ended the session; the code is deadline_exceeded.
class __attribute__((visibility("default"))) LimitExceeded : public Error {
 public:
  // `running` is the share of the limit, from 0 to 1, during which the request had run whose kernel was running; 0:
  // none was, or the server did not say.
  LimitExceeded(const std::string& message, TimeLimit limit, double running)
      : Error(ErrorCode::deadline_exceeded, message), limit_(limit), running_(running) {}
  TimeLimit limit() const { return limit_; }
  double running() const { return running_; }

 private:
  TimeLimit limit_;
  double running_;
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
