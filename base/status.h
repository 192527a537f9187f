// Error reporting of the wire and the device runtime: a code that tells the caller how to react, and a sentence for a
// person. No exception crosses a function boundary under rpc/ or device-runtime/.
#pragma once

#include "ferry/error_code.h"

#include <string>
#include <utility>
#include <variant>

namespace ferry {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool is_ok() const { return code_ == ErrorCode::ok; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  ErrorCode code_ = ErrorCode::ok;
  std::string message_;
};

// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool is_ok() const { return state_.index() == 0; }
  // Requires is_ok().
  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  // Returns an ok status if there is a value.
  Status status() const { return is_ok() ? Status() : *std::get_if<1>(&state_); }

 private:
  std::variant<T, Status> state_;
};

// Returns from the current function with the status if it is a failure.
#define FERRY_TRY(expression)                                                                    \
  do {                                                                                           \
    if (::ferry::Status ferry_status = (expression); !ferry_status.is_ok()) return ferry_status; \
  } while (false)

#define FERRY_CONCAT_(a, b) a##b
#define FERRY_CONCAT(a, b) FERRY_CONCAT_(a, b)
// FERRY_ASSIGN(auto x, f()): declares x from a Result, or returns from the current function with its status.
#define FERRY_ASSIGN(declaration, expression)                                                                \
  auto FERRY_CONCAT(ferry_result_, __LINE__) = (expression);                                                 \
  if (!FERRY_CONCAT(ferry_result_, __LINE__).is_ok()) return FERRY_CONCAT(ferry_result_, __LINE__).status(); \
  declaration = std::move(FERRY_CONCAT(ferry_result_, __LINE__).value())

}  // namespace ferry
