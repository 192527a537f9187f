// The addresses of a farm's trackers, and the key by which they know the client.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "rpc/secure/key.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {

inline constexpr std::uint16_t kTrackerPort = 9191;
inline constexpr std::size_t kMaxTrackers = 16;

struct FarmAccess {
  std::string name;                  // as the user calls the farm, for messages
  std::vector<TcpAddress> trackers;  // at least one; they are tried in this order
  secure::Key key;
  std::string key_file;  // the file that contained the key, for messages
  std::string client;    // what the client calls itself, for the tracker's logs
};

// Parses "HOST[:PORT],HOST[:PORT]". invalid_argument says what was expected.
Result<std::vector<TcpAddress>> parse_trackers(std::string_view text);
// Returns the addresses in the same form.
std::string to_text(const std::vector<TcpAddress>& trackers);

}  // namespace ferry::farm
