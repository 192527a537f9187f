#include "farm/core/lease/check_snapshot.h"

#include <cmath>
#include <set>
#include <string>
#include <unordered_map>

#include "base/format.h"
#include "base/printable.h"
#include "farm/core/lease/limits.h"

namespace ferry::farm {
namespace {

// Far from where sums of times overflow.
constexpr Duration kMost{Duration::rep{1} << 52};

Status damaged(const std::string& what) { return {ErrorCode::device_error, "the database is damaged: " + what}; }

template <class Id>
std::string number(Id id) {
  return format("%llu", static_cast<unsigned long long>(id));
}

bool is_time(Time time) { return time >= Time(-kMost) && time <= Time(kMost); }

bool is_state(BoardState state) { return state >= BoardState::good && state <= BoardState::retired; }

Status check_request(const RequestRecord& record) {
  const Request& request = record.request;
  const bool is_fine = !request.slots.empty() && request.slots.size() <= kMaxSlots &&
                       request.priority <= kMaxPriority && request.length > Duration::zero() &&
                       request.length <= kMaxLease && request.wait >= Duration::zero() && request.wait <= kMaxWait &&
                       is_time(record.submitted) &&
                       (request.kind == LeaseKind::attached || request.kind == LeaseKind::reserved);
  return is_fine ? Status() : damaged("request " + number(request.id) + " is outside of the limits");
}

// The boards and the requests of a snapshot, and which boards are leased.
class References {
 public:
  Status add(const BoardRecord& board) {
    if (!is_state(board.state)) return damaged("board " + number(board.id) + " has an unknown state");
    boards_.insert(board.id);
    return {};
  }
  Status add(const RequestRecord& request) {
    slots_[request.request.id] = request.request.slots.size();
    return check_request(request);
  }
  Status add(const LeaseRecord& lease) {
    const auto request = slots_.find(lease.id);
    if (request == slots_.end()) return damaged("there is no request of lease " + number(lease.id));
    if (lease.parts.size() != request->second)
      return damaged(format("lease %s: expected %zu boards, got %zu", number(lease.id).c_str(), request->second,
                            lease.parts.size()));
    if (!is_time(lease.start) || !is_time(lease.end) || !is_time(lease.set_at))
      return damaged("the times of lease " + number(lease.id));
    for (const LeasePart& part : lease.parts) {
      FERRY_TRY(expect_board(part.board));
      if (!leased_.insert(part.board).second) return damaged("board " + number(part.board) + " is leased twice");
    }
    return {};
  }
  Status add(const HolderRecord& holder) const {
    if (std::isfinite(holder.weight) && holder.weight > 0 && std::isfinite(holder.board_seconds) &&
        holder.board_seconds >= 0 && is_time(holder.at))
      return {};
    return damaged("the share of " + printable(holder.holder));
  }
  Status add(const HoldTimeRecord& time) const {
    FERRY_TRY(expect_board(time.board));
    if (std::isfinite(time.mean_seconds) && time.mean_seconds >= 0) return {};
    return damaged("the mean length of leases on board " + number(time.board));
  }

 private:
  Status expect_board(BoardId board) const {
    return boards_.contains(board) ? Status() : damaged("there is no board " + number(board));
  }

  std::set<BoardId> boards_, leased_;
  std::unordered_map<LeaseId, std::size_t> slots_;  // by request
};

}  // namespace

Status check_snapshot(const Snapshot& snapshot) {
  References references;
  for (const BoardRecord& board : snapshot.boards) FERRY_TRY(references.add(board));
  for (const RequestRecord& request : snapshot.requests) FERRY_TRY(references.add(request));
  for (const LeaseRecord& lease : snapshot.leases) FERRY_TRY(references.add(lease));
  for (const HolderRecord& holder : snapshot.holders) FERRY_TRY(references.add(holder));
  for (const HoldTimeRecord& time : snapshot.hold_times) FERRY_TRY(references.add(time));
  return {};
}

}  // namespace ferry::farm
