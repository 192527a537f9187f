// Error reporting of the wire and the device runtime: a code that tells the caller how to react, and a sentence for a
// person. No exception crosses a function boundary under rpc/ or device-runtime/.
#pragma once

#include "ferry/error_code.h"

#include <memory>
#include <string>
#include <utility>

namespace ferry {

// One pointer, null without a failure, because every function that passes statuses on has code for each member.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // A message with the code ok is dropped.
  Status(ErrorCode code, std::string message);
  Status(ErrorCode code, const char* message);
  Status(const Status& other) noexcept : failure_(other.failure_) {
    if (failure_ != nullptr) share();
  }
  Status(Status&& other) noexcept : failure_(std::exchange(other.failure_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(failure_, other.failure_);
    return *this;
  }
  ~Status() {
    if (failure_ != nullptr) release();
  }

  bool is_ok() const { return failure_ == nullptr; }
  ErrorCode code() const;
  const std::string& message() const;

 private:
  struct Failure;  // shared by all copies

  void share() noexcept;
  void release() noexcept;

  Failure* failure_ = nullptr;
};

// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  // Requires a failure.
  Result(Status failure) : failure_(std::move(failure)) {}
  Result(const Result& other) : failure_(other.failure_) {
    if (is_ok()) std::construct_at(&value_, other.value_);
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : failure_(other.failure_) {
    if (is_ok()) std::construct_at(&value_, std::move(other.value_));
  }
  Result& operator=(Result other) {
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Result() {
    if (is_ok()) std::destroy_at(&value_);
  }

  bool is_ok() const { return failure_.is_ok(); }
  // Requires is_ok().
  T& value() { return value_; }
  const T& value() const { return value_; }
  // Returns an ok status if there is a value.
  Status status() const { return failure_; }

 private:
  Status failure_;
  union {
    T value_;
  };
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
