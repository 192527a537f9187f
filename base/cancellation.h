// Tells a thread, and those that share its work (base/parallel_for.h), that nobody waits for the result any more. It
// asks now and then, between steps that take a while.
#pragma once

#include <functional>

#include "ferry/api.h"

namespace ferry {

// Asked on the threads that work; true: the work is cancelled.
using IsCancelled = std::function<bool()>;

// For as long as this exists, what this thread does is cancelled once `asked` says so. Null: it is not.
class FERRY_API CancellationScope {
 public:
  explicit CancellationScope(const IsCancelled* asked);
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;
  ~CancellationScope();

 private:
  const IsCancelled* before_;
};

// Returns what this thread asks; null if it asks nobody.
const IsCancelled* current_cancellation();

// Throws Error with aborted if this thread's work has been cancelled.
void check_cancelled();

}  // namespace ferry
