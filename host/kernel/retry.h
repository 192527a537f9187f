// Repeats work in a session of its own when the connection is lost before anything ran on the device.
#pragma once

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"

namespace ferry {

// If the connection was lost before anything ran on the device, and this was not the last attempt, tells the observer
// and waits briefly; otherwise rethrows the error.
void expect_another_attempt(const ConnectionLost& error, int attempt, const Observer& observer);

// Returns the result of `work`, which opens a session of its own: repeats it when the connection was lost before
// anything ran there.
template <class Work>
auto with_retries(const Observer& observer, const Work& work) {
  for (int attempt = 1;; ++attempt) {
    try {
      return work();
    } catch (const ConnectionLost& error) {
      expect_another_attempt(error, attempt, observer);
    }
  }
}

}  // namespace ferry
