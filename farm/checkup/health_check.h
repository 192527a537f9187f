// One health check of a board: connects to it for each session, and takes the times of the reference jobs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/descriptor.h"
#include "farm/checkup/reference_times.h"
#include "farm/client/relay.h"
#include "farm/core/lease/ids.h"
#include "farm/protocol/lease/lease_terms.h"
#include "rpc/secure/key.h"

namespace ferry::farm {

struct HealthJob {
  BoardId board{};
  std::string address;                   // as of any device: HOST:PORT, ssh://HOST
  std::optional<secure::Key> psk;        // the lease's; nothing: the address needs none
  lease::Epoch epoch = 0;                // the only proof of the lease where the board is reached by ssh
  std::optional<RelayRoute> relay = {};  // if the board cannot be reached otherwise
};

enum class CheckEnd : std::uint8_t {
  measured,      // the times are for a judge
  inconclusive,  // the board could not be reached, or its environment changed: says nothing about its speed
  failed,        // a job could not be run, crashed, or gave wrong results
  timed_out,     // the board did not answer in time
  cancelled,
};

struct HealthOutcome {
  BoardId board{};
  CheckEnd end = CheckEnd::inconclusive;
  HealthCheck check;                         // if measured
  HealthMetric job = HealthMetric::ping;     // otherwise: what was running
  std::optional<std::int32_t> millidegrees;  // the hottest zone's when the check began
  std::string text;                          // why there are no times
};

// Ends a check that runs on another thread.
class CheckControl {
 public:
  // Ends the check with this result. The first call counts.
  void end_with(CheckEnd end);
  // Nothing while the check may go on.
  std::optional<CheckEnd> ended() const;
  // Takes a duplicate of the socket, which end_with() shuts down.
  void watch(int socket);

 private:
  mutable std::mutex mutex_;
  std::optional<CheckEnd> end_;
  Descriptor socket_;
};

struct HealthOptions {
  ReferenceSizes sizes;
  ReferenceEffort effort;
  double limit_s = 120;  // the whole check's
  // The place from which checks run: round trips from elsewhere, as after another tracker has taken over, are not
  // comparable. Empty: the name of this host.
  std::string place = {};
};

// Throws nothing.
HealthOutcome check_health(const HealthJob& job, ReferenceModules& modules, const HealthOptions& options,
                           CheckControl& control);

}  // namespace ferry::farm
