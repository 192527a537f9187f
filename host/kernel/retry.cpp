#include "host/kernel/retry.h"

#include <chrono>
#include <thread>

#include "base/printable.h"

namespace ferry {

void expect_another_attempt(const ConnectionLost& error, int attempt, const Observer& observer) {
  constexpr int kMaxAttempts = 3;
  constexpr std::chrono::milliseconds kPause{200};
  if (!error.nothing_ran() || attempt == kMaxAttempts) throw error;
  observer.tell(printable_lines(error.what()) + "; nothing has run there yet, so trying again");
  std::this_thread::sleep_for(attempt * kPause);
}

}  // namespace ferry
