// Says whom a server serves, and who waits.
#pragma once

#include "ferry/api.h"
#include "ferry/client.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferry {

// A client that a server serves, or that waits to be served.
struct ServerClient {
  std::uint64_t session = 0;  // session number; 0 while waiting
  std::string client;
  std::string peer;
  double seconds = 0;    // time in the session, or in the queue
  std::string function;  // the running function, for running_seconds; or empty
  double running_seconds = 0;
};
struct ServerStatus {
  std::string address;
  std::string server_version;
  std::string device;
  double uptime_seconds = 0;
  std::uint32_t max_sessions = 0;
  std::uint32_t max_waiting = 0;
  std::uint64_t sessions_ended = 0;
  std::uint64_t sessions_failed = 0;
  std::vector<ServerClient> sessions;
  std::vector<ServerClient> waiting;  // in the order of the queue
};
// Answered at once, even if another client has the device.
FERRY_API ServerStatus server_status(std::string_view address, const ConnectOptions& options = {});

}  // namespace ferry
