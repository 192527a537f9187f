// The work that a tracker that schedules does every second: it closes silent connections, writes what has gathered, and
// deletes history that is too old.
#pragma once

#include <chrono>

#include "farm/tracker/core.h"

namespace ferry::farm {

class Maintenance {
 public:
  // The core must outlive this object.
  explicit Maintenance(Core& core) : core_(core) {}

  // Requires that the tracker schedules.
  void tick();
  void write_sessions();

 private:
  void purge();

  Core& core_;
  std::chrono::steady_clock::time_point purge_at_{};
};

}  // namespace ferry::farm
