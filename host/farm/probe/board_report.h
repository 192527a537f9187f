// The report of a board that is reached by ssh about itself, where nothing is installed that could join a farm.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "rpc/farm/messages.h"

namespace ferry::farm {

struct BoardReport {
  std::uint64_t boot_id = 0;  // the same that a server of this board would state
  // The latest epoch of which the board has a lock file: a tracker whose database was restored goes on above it.
  lease::Epoch ceiling = 0;
  // Without a server's version, features of the CPU and accelerators, which only a server finds out.
  wire::Description description;
  wire::Heartbeat heartbeat;
};

// Reads the answers of session::probe_script() but the last. Values that no board has are left out; fails if what a
// farm must know is missing: the architecture, the id of the system's start, and the time since then.
Result<BoardReport> read_report(const std::vector<std::string>& answers);

}  // namespace ferry::farm
