#include "farm/core/lease/restore.h"

#include <algorithm>

#include "farm/core/lease/claims.h"
#include "farm/core/lease/lease_life.h"
#include "farm/core/lease/limits.h"

namespace ferry::farm {
namespace {

// Since the record was written the clock may have been set back. The lease lasts no longer from now on than from the
// moment at which its end was decided on.
Time end_of(const LeaseRecord& record, Time now) {
  const Time end = record.set_at > now ? now + std::max(Duration::zero(), record.end - record.set_at) : record.end;
  return std::min(end, now + kMaxLease);
}

void restore_lease(State& state, Entry& entry, const LeaseRecord& record, Time now) {
  const Time start = std::min(record.start, now);
  const Time end = end_of(record, now);
  std::vector<std::uint32_t> boards;
  for (const LeasePart& part : record.parts) boards.push_back(state.boards.find(part.board)->index);
  hold_boards(state, entry, boards, start, end);
  Lease& lease = *entry.lease;
  lease.extension = record.extension;
  lease.set_at = std::min(record.set_at, now);
  // By how much the clock was set is unknown, and the boards may not have heard of the last extension.
  lease.confirmed_end = now;
  // Its client may say otherwise when it attaches.
  lease.is_granted = true;
  for (std::size_t i = 0; i < boards.size(); ++i) lease.parts[i].epoch = record.parts[i].epoch;
}

}  // namespace

void restore(State& state, const Snapshot& snapshot, Time now) {
  for (const BoardRecord& record : snapshot.boards) state.boards.add(record);
  // An earlier tracker may have taken what a board says as it is.
  for (std::uint32_t index = 0; index < state.boards.size(); ++index) {
    Board& board = state.boards.at(index);
    remove_foreign_names(state.boards, board, board.record.description);
  }
  for (const HoldTimeRecord& record : snapshot.hold_times)
    state.boards.find(record.board)->mean_hold_seconds = record.mean_seconds;
  for (const HolderRecord& record : snapshot.holders)
    state.shares.restore(record.holder, record.weight, record.board_seconds, record.at);
  for (const RequestRecord& record : snapshot.requests) {
    Entry& entry = add_entry(state, record.request, std::min(record.submitted, now));
    if (record.request.kind == LeaseKind::reserved) continue;
    entry.must_attach = true;
    state.timers.set(now + kAttachTimeout, TimerKind::attachment, static_cast<std::uint64_t>(record.request.id));
  }
  for (const LeaseRecord& record : snapshot.leases) restore_lease(state, *state.find(record.id), record, now);
}

}  // namespace ferry::farm
