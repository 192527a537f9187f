// Limits the threads of measured calls and the cores they run on, until it goes out of scope.
#pragma once

#include "device-runtime/measure/pinning.h"
#include "device-runtime/session/state/session_state.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ferry::device {

class CallThreads {
 public:
  explicit CallThreads(SessionState& state)
      : device_(*state.devices.front()),
        number_(state.facts.threads),
        pinning_(state.access.files.threads.number(), [this] { device_.follow_caller(); }) {}
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;
  ~CallThreads() { device_.limit_threads(0); }

  // No cores: anywhere; `most` 0: as many threads as the device has. Fails with invalid_argument unless this process
  // may use all of the cores.
  Status choose(const std::vector<std::uint32_t>& cores, std::uint32_t most) {
    FERRY_TRY(pinning_.move_to(cores));
    if (most != 0) number_ = std::min(number_, most);
    // More threads than cores would only share the cores.
    if (!cores.empty()) number_ = std::min(number_, static_cast<std::uint32_t>(cores.size()));
    device_.limit_threads(number_);
    return {};
  }

  std::uint32_t number() const { return number_; }

 private:
  Device& device_;
  std::uint32_t number_;
  Pinning pinning_;
};

}  // namespace ferry::device
