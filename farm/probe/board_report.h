// The report of a board that is reached by ssh about itself, where nothing is installed that could join a farm.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "farm/core/lease/lock_file.h"
#include "farm/protocol/messages.h"

namespace ferry::farm {

struct BoardReport {
  std::uint64_t boot_id = 0;  // the same that a server of this board would state
  // Those of later leases than the tracker knew when it asked.
  std::vector<LockFile> locks;
  // Without a server's version, features of the CPU and accelerators, which only a server finds out.
  wire::Description description;
  wire::Heartbeat heartbeat;
};

// Reads the answers of session::probe_script() but the last. Values that no board has are left out; fails if what a
// farm must know is missing: the architecture, the id of the system's start, and the time since then.
Result<BoardReport> read_report(const std::vector<std::string>& answers);

}  // namespace ferry::farm
