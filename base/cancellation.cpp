#include "base/cancellation.h"

#include <utility>

#include "ferry/error.h"

namespace ferry {
namespace {

thread_local const std::atomic<bool>* current_flag = nullptr;

}  // namespace

CancellationScope::CancellationScope(const std::atomic<bool>* flag) : before_(std::exchange(current_flag, flag)) {}

CancellationScope::~CancellationScope() { current_flag = before_; }

const std::atomic<bool>* cancellation_flag() { return current_flag; }

void check_cancelled() {
  if (current_flag != nullptr && current_flag->load()) throw Error(ErrorCode::aborted, "cancelled");
}

}  // namespace ferry
