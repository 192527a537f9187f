// Sessions that have ended, which are written to the database together each second.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "farm/protocol/messages.h"
#include "farm/store/board_logs.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/database.h"
#include "farm/tracker/log.h"

namespace ferry::farm {

class SessionLog {
 public:
  // The limits between two calls of write(). What is beyond them is lost, so that a board that reports very many
  // sessions neither displaces those of others nor fills the disk.
  static constexpr std::size_t kMaxSessions = 1000;
  static constexpr std::size_t kMaxSessionsOfBoard = 250;
  static constexpr std::size_t kMaxReportsOfBoard = 10;  // reports of failures are longer than other texts

  // All must outlive this object.
  SessionLog(const ActiveScheduler& scheduler, const BoardRegistry& boards, Database& database, Log log)
      : scheduler_(scheduler), boards_(boards), database_(database), log_(std::move(log)) {}
  SessionLog(const SessionLog&) = delete;
  SessionLog& operator=(const SessionLog&) = delete;

  // Keeps what the board says of a session until write(). Requires that the tracker schedules.
  void add(BoardId board, const wire::SessionEnded& ended);
  void write();

 private:
  struct Count {
    std::size_t sessions = 0, reports = 0;
  };

  const ActiveScheduler& scheduler_;
  const BoardRegistry& boards_;
  Database& database_;
  Log log_;
  std::vector<SessionEntry> sessions_;
  std::unordered_map<BoardId, Count> counts_;
};

}  // namespace ferry::farm
