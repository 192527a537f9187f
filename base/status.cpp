#include "base/status.h"

#include <atomic>

namespace ferry {

struct Status::Failure {
  ErrorCode code;
  std::string message;
  std::atomic<unsigned> uses{1};
};

Status::Status(ErrorCode code, std::string message) {
  if (code != ErrorCode::ok) failure_ = new Failure{code, std::move(message)};
}

Status::Status(ErrorCode code, const char* message) : Status(code, std::string(message)) {}

void Status::share() noexcept { failure_->uses.fetch_add(1, std::memory_order_relaxed); }

void Status::release() noexcept {
  if (failure_->uses.fetch_sub(1, std::memory_order_acq_rel) == 1) delete failure_;
}

ErrorCode Status::code() const { return is_ok() ? ErrorCode::ok : failure_->code; }

const std::string& Status::message() const {
  static const std::string kNone;
  return is_ok() ? kNone : failure_->message;
}

const char* error_name(ErrorCode code) {
  switch (code) {
#define FERRY_NAME(value, name) \
  case ErrorCode::name: return #name;
    FERRY_ERROR_CODES(FERRY_NAME)
#undef FERRY_NAME
  }
  return "unknown";
}

}  // namespace ferry
