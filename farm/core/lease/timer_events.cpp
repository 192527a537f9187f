// Time passes, and commits are done.
#include <algorithm>

#include "farm/core/lease/handlers.h"
#include "farm/core/lease/lease_life.h"
#include "farm/core/lease/limits.h"
#include "farm/core/lease/wait_reason.h"

namespace ferry::farm {
namespace {

void check_board(State& state, BoardConnection connection, Time now) {
  Board* board = state.boards.find(connection);
  if (board == nullptr) return;
  const Time silent_at = board->connected->heard_at + kSilence;
  if (now < silent_at)
    return state.timers.set(silent_at, TimerKind::board_silence, static_cast<std::uint64_t>(connection));
  state.outbox.send(CloseBoard{connection, "nothing was heard from the board"});
  lose_board(state, *board, now);
}

void check_client(State& state, ClientConnection connection, Time now) {
  const auto client = state.clients.find(connection);
  if (client == state.clients.end()) return;
  const Time silent_at = client->second.heard_at + kSilence;
  if (now < silent_at)
    return state.timers.set(silent_at, TimerKind::client_silence, static_cast<std::uint64_t>(connection));
  lose_client(state, connection, EndReason::client_silent, "nothing was heard from its client", now);
}

// The connected board has not answered, so the other one is the same board, which has started again.
void check_probe(State& state, BoardConnection contender, Time now) {
  const auto found = state.contenders.find(contender);
  if (found == state.contenders.end()) return;
  Board& board = *state.boards.find(found->second);
  state.outbox.send(CloseBoard{board.connected->id, "the board has started again"});
  lose_board(state, board, now);
}

void check_extension(State& state, Entry& entry, Time now) {
  Lease& lease = *entry.lease;
  if (!lease.is_extending || now < lease.extend_by) return;
  lease.is_extending = false;
  if (!entry.client) return;
  // The boards may have heard of it or not: the lease lasts at least as long as they had acknowledged before.
  const Duration remaining = std::max(Duration::zero(), lease.confirmed_end - now);
  state.outbox.send(TellExtension{*entry.client, entry.request.id, remaining, "a board has not acknowledged it"});
}

void warn(State& state, Entry& entry, Time now) {
  Lease& lease = *entry.lease;
  if (lease.warned_of == lease.end || now < lease.end - warning_time(entry.request.length)) return;
  lease.warned_of = lease.end;
  if (entry.client && lease.is_granted)
    state.outbox.send(TellWarning{*entry.client, entry.request.id, lease.end - now});
}

void end_wait(State& state, Entry& entry, Time now) {
  bool is_for_heat = false;
  for (std::uint32_t index = 0; index < state.boards.size() && !is_for_heat; ++index) {
    const Board& board = state.boards.at(index);
    if (!board.is_hot || !board.connected || board.lease || board.record.state != BoardState::good) continue;
    for (const auto& pool : entry.pools) is_for_heat = is_for_heat || pool->boards.contains(index);
  }
  const std::string why = wait_reason(state, entry);
  end_request(state, entry, is_for_heat ? EndReason::too_hot : EndReason::wait_expired,
              is_for_heat ? "a board that could serve it did not cool in time"
                          : "no board became available in time" + (why.empty() ? "" : ": " + why),
              now);
}

void handle_lease_timer(State& state, TimerKind kind, Entry& entry, Time now) {
  switch (kind) {
    case TimerKind::acknowledgement:
      if (!entry.lease->is_granted && now >= entry.lease->acknowledge_by) roll_back(state, entry, now);
      return;
    case TimerKind::extension: return check_extension(state, entry, now);
    case TimerKind::lease_warning: return warn(state, entry, now);
    case TimerKind::lease_end:
      if (now >= entry.lease->end) end_request(state, entry, EndReason::lease_expired, "the lease's time is over", now);
      return;
    case TimerKind::board_silence:
    case TimerKind::client_silence:
    case TimerKind::probe:
    case TimerKind::wait_end:
    case TimerKind::attachment:
    case TimerKind::queue_notice:
    case TimerKind::priority_step: return;
  }
}

}  // namespace

void handle_timer(State& state, const Timer& timer, Time now) {
  Entry* entry = state.find(LeaseId{timer.id});
  switch (timer.kind) {
    case TimerKind::board_silence: return check_board(state, BoardConnection{timer.id}, now);
    case TimerKind::client_silence: return check_client(state, ClientConnection{timer.id}, now);
    case TimerKind::probe: return check_probe(state, BoardConnection{timer.id}, now);
    case TimerKind::acknowledgement:
    case TimerKind::extension:
    case TimerKind::lease_warning:
    case TimerKind::lease_end:
      if (entry != nullptr && entry->lease) handle_lease_timer(state, timer.kind, *entry, now);
      return;
    case TimerKind::wait_end:
      if (entry != nullptr && !entry->lease && now >= entry->waiting.submitted + entry->request.wait)
        end_wait(state, *entry, now);
      return;
    case TimerKind::attachment:
      if (entry != nullptr && entry->must_attach)
        end_request(state, *entry, EndReason::not_attached_again, "its client did not attach again", now);
      return;
    case TimerKind::queue_notice: state.is_notice_due = false; return send_queue_notices(state, now);
    case TimerKind::priority_step:
      state.is_step_due = false;
      state.must_schedule = true;
      return;
  }
}

void handle_event(State& state, const Persisted& event, Time now) {
  for (const Effect& effect : state.outbox.take_persisted(event.commit)) {
    if (const auto* start = std::get_if<AnnounceStart>(&effect)) {
      announce(state, *start, now);
    } else if (const auto* extension = std::get_if<AnnounceExtension>(&effect)) {
      announce(state, *extension, now);
    } else if (const auto* withdraw = std::get_if<Withdraw>(&effect)) {
      const Board* board = state.boards.find(withdraw->board);
      if (board->connected) state.outbox.send(WithdrawLease{board->connected->id, withdraw->key});
    } else {
      state.outbox.send(std::get<Action>(effect));
    }
  }
}

}  // namespace ferry::farm
