// A board that is leased to this user, as the lease describes it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "host/client/connect/connector.h"
#include "host/client/connect/ssh_process.h"
#include "host/client/connect/tcp.h"

namespace ferry::session {

struct LeasedBoard {
  std::string name;         // in its farm: "pi-3"
  std::string address;      // HOST:PORT, or ssh://[USER@]HOST[:PORT]
  std::uint64_t epoch = 0;  // numbers the board's leases; what counts where the board is reached by ssh
  secure::KeyBytes psk{};   // for sessions of this lease on this board
  std::shared_ptr<const Lease> lease = {};
  std::string farm = {};  // as the user calls it; empty: it has none

  // Returns "lab/pi-3"; empty for a board without a farm.
  std::string full_name() const { return farm.empty() ? farm : farm + "/" + name; }
};

// A lease that somebody else keeps, and that is over after this time.
std::shared_ptr<const Lease> lease_for(std::chrono::milliseconds remaining);

// `name` is that of the board in messages. Throws Error if the board's address is none.
std::shared_ptr<Connector> board_connector(const LeasedBoard& board, const std::string& name, Detour detour = {},
                                           SshOptions options = {});

}  // namespace ferry::session
