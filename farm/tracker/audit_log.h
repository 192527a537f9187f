// The audit log: who has changed what in the farm, and who has tried to use what belongs to others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "farm/api/farm.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/database.h"
#include "farm/tracker/log.h"

namespace ferry::farm {

class AuditLog {
 public:
  // All must outlive this object.
  AuditLog(const ActiveScheduler& scheduler, const BoardRegistry& boards, Database& database, Log log)
      : scheduler_(scheduler), boards_(boards), database_(database), log_(std::move(log)) {}
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Writes an entry, also to the tracker's log, then calls then() with whether that succeeded.
  void write(const Caller& who, const std::string& action, std::optional<BoardId> board, const std::string& text,
             std::function<void(const Status&)> then);

  // Writes that the caller has tried to do something with the id of another holder's lease or request, which was
  // refused, unless such an attempt of this holder was written during the last hour: then it is counted, and the next
  // entry says how many there were. So nobody floods the log.
  void write_foreign_id(const Caller& caller, const std::string& action, std::uint64_t lease);
  // The same if there is such a lease or request, and it is somebody else's. Requires that the tracker schedules.
  void write_if_foreign(const Caller& caller, const std::string& action, std::uint64_t lease);

 private:
  struct ForeignIds {
    Time written{};
    std::uint64_t left_out = 0;  // since then
  };

  const ActiveScheduler& scheduler_;
  const BoardRegistry& boards_;
  Database& database_;
  Log log_;
  std::map<std::string, ForeignIds> foreign_ids_;  // attempts of each holder
};

}  // namespace ferry::farm
