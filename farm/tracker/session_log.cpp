#include "farm/tracker/session_log.h"

#include <algorithm>
#include <utility>

#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

constexpr std::uint64_t kLongestSession = std::uint64_t{1} << 40;

// The holder of the lease, if the lease has this board; empty: it has ended, which the database knows, or there is
// none. Another request may have the id of a lease that has ended, but no other lease has its epoch on the board.
std::string holder_of(const LeaseMachine& machine, const lease::LeaseKey& key, BoardId board) {
  const auto lease = machine.find_request(LeaseId{key.lease});
  if (!lease) return {};
  const bool has_board = std::ranges::any_of(
      lease->parts, [&](const LeasePart& part) { return part.board == board && part.epoch == key.epoch; });
  return has_board ? lease->request->holder : std::string();
}

}  // namespace

void SessionLog::add(BoardId board, const wire::SessionEnded& ended) {
  Count& count = counts_[board];
  if (++count.sessions > kMaxSessionsOfBoard || sessions_.size() >= kMaxSessions) return;
  const bool is_report_kept = ended.failure.empty() || ++count.reports <= kMaxReportsOfBoard;
  if (!ended.failure.empty() && is_report_kept)
    log_(boards_.name_of(board) + ": a session has failed: " + ended.failure);
  sessions_.push_back(
      {board, scheduler_.now(), Duration(static_cast<Duration::rep>(std::min(ended.length_ms, kLongestSession))),
       LeaseId{ended.key.lease}, holder_of(scheduler_.machine(), ended.key, board), fit(ended.client, wire::kMaxText),
       fit(ended.failure, is_report_kept ? kMaxFailureBytes : wire::kMaxText), ended.key.epoch});
}

void SessionLog::write() {
  counts_.clear();
  if (sessions_.empty()) return;
  database_.ask([sessions = std::exchange(sessions_, {})](Store& store) { return store.add_sessions(sessions); },
                [this](const Status& written) {
                  if (!written.is_ok()) log_("sessions could not be recorded: " + written.message());
                });
}

}  // namespace ferry::farm
