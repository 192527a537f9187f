#include "base/cancellation.h"

#include <utility>

#include "ferry/error.h"

namespace ferry {
namespace {

thread_local const IsCancelled* current = nullptr;

}  // namespace

CancellationScope::CancellationScope(const IsCancelled* asked) : before_(std::exchange(current, asked)) {}

CancellationScope::~CancellationScope() { current = before_; }

const IsCancelled* current_cancellation() { return current; }

void check_cancelled() {
  if (current != nullptr && (*current)()) throw Error(ErrorCode::aborted, "cancelled");
}

}  // namespace ferry
