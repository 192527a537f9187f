// The lock files of boards that are reached by ssh (host/client/connect/ssh_script.h). Every program of the board's
// user can make one, also with the epoch of a lease that never was, and so keep out the leases to come.
#pragma once

#include <string>
#include <vector>

#include "farm/protocol/lease/lease_terms.h"

namespace ferry::farm {

struct LockFile {
  lease::Epoch epoch = 0;
  std::string name;  // "EPOCH-PROCESS-START"
};

// What a tracker knows of the lock files of a board.
struct KnownLocks {
  lease::Epoch epoch = 0;           // the last lease's; lock files of later leases are reported
  std::vector<std::string> forged;  // the names of those that the next probe removes
};

}  // namespace ferry::farm
