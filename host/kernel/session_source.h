// Where a service gets its sessions from.
#pragma once

#include <functional>

#include "ferry/client.h"
#include "host/kernel/observer.h"

namespace ferry {

// Opens a session on some device: one with an address, this machine, or one that is chosen only then. The service fills
// in what the kernel needs of it: devices and guard_tensors. All else is up to whoever provides this.
using OpenSession = std::function<Device(const ConnectOptions& options)>;

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
