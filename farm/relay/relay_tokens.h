// Pairs the two connections of each relay by the token that the tracker has given to both ends. It knows of no event
// loop: the tracker passes in what happens, and when.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "base/descriptor.h"
#include "base/status.h"
#include "rpc/wire/frame.h"

namespace ferry::farm {

class RelayTokens {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::seconds kValid{10};    // how long both ends have to come
  static constexpr std::size_t kMaxTokens = 1024;      // at a time
  static constexpr std::size_t kMaxTokensOfLease = 4;  // at a time

  struct Ends {
    std::uint64_t lease = 0;
    Descriptor client, board;
  };

  // Draws a token for a relay to a board of this lease. Fails with busy where the limits are reached.
  Result<std::uint64_t> open(std::uint64_t lease, TimePoint now);
  // A connection has presented this ticket. Returns both ends once both have come, and forgets the token. One whose
  // token is unknown or too old, or whose end has come already, is closed.
  std::optional<Ends> arrive(const rpc::RelayTicket& ticket, Descriptor socket, TimePoint now);
  // Forgets the tokens that are too old, and closes the connections that wait with them.
  void expire(TimePoint now);
  std::size_t size() const { return open_.size(); }

 private:
  struct Opened {
    TimePoint until;
    Ends ends;
  };

  std::map<std::uint64_t, Opened> open_;  // by token
};

}  // namespace ferry::farm
