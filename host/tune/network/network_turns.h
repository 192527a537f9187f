// Runs a network as two modules in turns, and times their steps.
#pragma once

#include "host/kernel/kernel.h"
#include "host/tune/network/network_profile.h"
#include "host/tune/tune.h"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace ferry::tune {

struct InNetwork {
  const bench::NamedDevice& device;
  const TunedKernel& network;
  const TuneOptions& options;
  const NetworkProfile& profile;
};

// Fewer sessions say too little.
inline constexpr int kLeastSessions = 3;

// Returns the network's module with what is known by `tuned`, which may be null.
CompiledModule compile_with(const InNetwork& in_network, std::shared_ptr<const TunedSchedules> tuned,
                            const Observer& observer);

// The steps of all calls of both modules in one session.
using SessionSteps = std::array<std::vector<std::vector<StepTime>>, 2>;

// After the least number of sessions, or `sessions` if that is less, leaves out those that would probably not end
// before `until`. The observer may end it between two sessions.
std::vector<SessionSteps> call_in_turns(const InNetwork& in_network, const std::array<const CompiledModule*, 2>& sides,
                                        int sessions, const Observer& observer,
                                        std::optional<std::chrono::steady_clock::time_point> until = {});

}  // namespace ferry::tune
