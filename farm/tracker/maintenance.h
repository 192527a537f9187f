// The work that a tracker that schedules does every second: it writes what has gathered, closes relays that are over,
// and deletes history that is too old.
#pragma once

#include <chrono>

#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/database.h"
#include "farm/tracker/relay_service.h"
#include "farm/tracker/session_log.h"

namespace ferry::farm {

class Maintenance {
 public:
  // All must outlive this object.
  Maintenance(const ActiveScheduler& scheduler, Database& database, SessionLog& sessions, RelayService& relays)
      : scheduler_(scheduler), database_(database), sessions_(sessions), relays_(relays) {}
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

  // Requires that the tracker schedules.
  void tick();

 private:
  void purge();

  const ActiveScheduler& scheduler_;
  Database& database_;
  SessionLog& sessions_;
  RelayService& relays_;
  std::chrono::steady_clock::time_point purge_at_{};
};

}  // namespace ferry::farm
