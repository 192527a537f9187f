// Tells a thread, and those that share its work (base/parallel_for.h), that nobody waits for the result any more. It
// asks now and then, between steps that take a while.
#pragma once

#include <atomic>

#include "ferry/api.h"

namespace ferry {

// For as long as this exists, the work of this thread is cancelled when the flag is set. Null: it is not.
class FERRY_API CancellationScope {
 public:
  explicit CancellationScope(const std::atomic<bool>* flag);
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;
  ~CancellationScope();

 private:
  const std::atomic<bool>* before_;
};

// Returns the flag of this thread; null if there is none.
const std::atomic<bool>* cancellation_flag();

// Throws Error with aborted if this thread's work has been cancelled.
void check_cancelled();

}  // namespace ferry
