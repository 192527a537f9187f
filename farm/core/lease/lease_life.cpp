#include "farm/core/lease/lease_life.h"

#include <algorithm>
#include <utility>

#include "farm/core/lease/limits.h"

namespace ferry::farm {
namespace {

void join_queue(State& state, Entry& entry) {
  entry.queue_index = state.queue.size();
  entry.told_place = 0;
  state.queue.push_back(&entry);
  state.has_queue_changed = true;
  state.must_schedule = true;
}

void leave_queue(State& state, Entry& entry) {
  state.queue[entry.queue_index] = state.queue.back();
  state.queue[entry.queue_index]->queue_index = entry.queue_index;
  state.queue.pop_back();
  state.has_queue_changed = true;
}

void set_timers_of_end(State& state, const Entry& entry) {
  const auto id = static_cast<std::uint64_t>(entry.request.id);
  state.timers.set(entry.lease->end - warning_time(entry.request.length), TimerKind::lease_warning, id);
  state.timers.set(entry.lease->end, TimerKind::lease_end, id);
}

void cancel_timers(State& state, LeaseId lease) {
  for (const TimerKind kind : {TimerKind::acknowledgement, TimerKind::extension, TimerKind::lease_warning,
                               TimerKind::lease_end, TimerKind::wait_end, TimerKind::attachment})
    state.timers.cancel(kind, static_cast<std::uint64_t>(lease));
}

void forget_client(State& state, ClientConnection connection) {
  state.timers.cancel(TimerKind::client_silence, static_cast<std::uint64_t>(connection));
  state.clients.erase(connection);
}

// Takes the boards from the lease and withdraws it from them once that is committed.
void free_boards(State& state, Entry& entry, Time now) {
  const Lease& lease = *entry.lease;
  for (const HeldBoard& part : lease.parts) {
    Board& board = state.boards.at(part.board);
    state.boards.end_lease(board);
    state.outbox.after_commit(Withdraw{board.record.id, key_of(entry, part)});
  }
  state.shares.end(entry.request.holder, static_cast<std::uint32_t>(lease.parts.size()), lease.start, now);
  // Even if no board is free now: those of a collecting request may be held no longer.
  state.must_schedule = true;
}

// The mean follows what people do: each lease counts for an eighth.
void remember_hold_time(State& state, const Lease& lease, Time now) {
  const double seconds = std::chrono::duration<double>(std::max(Duration(1), now - lease.start)).count();
  for (const HeldBoard& part : lease.parts) {
    Board& board = state.boards.at(part.board);
    double& mean = board.mean_hold_seconds;
    mean = mean == 0 ? seconds : mean + (seconds - mean) / 8;
    state.outbox.record(HoldTimeRecord{board.record.id, mean});
  }
}

void send_announcement(State& state, const Entry& entry, const HeldBoard& part) {
  const Board& board = state.boards.at(part.board);
  if (!board.connected) return;
  // Both times are those of the heartbeat: however late it and the announcement arrive, they only shorten the lease.
  const Duration remaining = less_clock_error(entry.lease->end - board.connected->heard_at);
  state.outbox.send(AnnounceLease{board.connected->id,
                                  {key_of(entry, part), entry.lease->extension, board.connected->boot_time + remaining},
                                  entry.request.holder});
}

LeaseRecord record_of(State& state, const Entry& entry) {
  LeaseRecord record{entry.request.id,   {}, entry.lease->start, entry.lease->end, entry.lease->extension,
                     entry.lease->set_at};
  for (const HeldBoard& part : entry.lease->parts)
    record.parts.push_back({state.boards.at(part.board).record.id, part.epoch});
  return record;
}

}  // namespace

Entry& add_entry(State& state, const Request& request, Time submitted) {
  auto owner = std::make_unique<Entry>();
  Entry& entry = *owner;
  entry.request = request;
  entry.waiting = {
      request.priority, 0, submitted, static_cast<std::uint64_t>(request.id), state.number_of(request.holder),
      request.length,   {}};
  for (const Selector& selector : request.slots) {
    const auto& pool = entry.pools.emplace_back(state.pools.get(selector, state.boards));
    entry.waiting.slots.push_back(
        {&pool->boards, request.is_health_check ? &state.boards.available_for_checks() : &state.boards.available()});
  }
  state.entries.emplace(request.id, std::move(owner));
  state.timers.set(submitted + request.wait, TimerKind::wait_end, static_cast<std::uint64_t>(request.id));
  join_queue(state, entry);
  return entry;
}

void drop_entry(State& state, Entry& entry) {
  leave_queue(state, entry);
  cancel_timers(state, entry.request.id);
  state.entries.erase(entry.request.id);
}

void hold_boards(State& state, Entry& entry, const std::vector<std::uint32_t>& boards, Time start, Time end) {
  leave_queue(state, entry);
  Lease& lease = entry.lease.emplace();
  lease.start = lease.set_at = start;
  lease.end = lease.confirmed_end = end;
  lease.attempt = ++state.attempts;
  for (const std::uint32_t index : boards) {
    lease.parts.push_back({index, 0, false, 0});
    state.boards.set_lease(state.boards.at(index), entry.request.id, end);
  }
  state.shares.start(entry.request.holder, static_cast<std::uint32_t>(boards.size()), start);
  set_timers_of_end(state, entry);
}

void start_lease(State& state, Entry& entry, const std::vector<std::uint32_t>& boards, Time now) {
  hold_boards(state, entry, boards, now, now + entry.request.length);
  for (HeldBoard& part : entry.lease->parts) {
    BoardRecord& board = state.boards.at(part.board).record;
    part.epoch = ++board.last_epoch;
    state.outbox.record(EpochRecord{board.id, part.epoch});
  }
  state.outbox.record(record_of(state, entry));
  state.outbox.after_commit(AnnounceStart{entry.request.id, entry.lease->attempt});
}

void announce(State& state, const AnnounceStart& start, Time now) {
  Entry* entry = state.find(start.lease);
  if (entry == nullptr || !entry->lease || entry->lease->attempt != start.attempt) return;
  for (const HeldBoard& part : entry->lease->parts) send_announcement(state, *entry, part);
  entry->lease->acknowledge_by = now + kAcknowledgeTimeout;
  state.timers.set(entry->lease->acknowledge_by, TimerKind::acknowledgement, static_cast<std::uint64_t>(start.lease));
}

void announce(State& state, const AnnounceExtension& extension, Time now) {
  Entry* entry = state.find(extension.lease);
  if (entry == nullptr || !entry->lease || entry->lease->extension != extension.extension) return;
  for (const HeldBoard& part : entry->lease->parts) send_announcement(state, *entry, part);
  entry->lease->extend_by = now + kAcknowledgeTimeout;
  state.timers.set(entry->lease->extend_by, TimerKind::extension, static_cast<std::uint64_t>(extension.lease));
}

void extend_lease(State& state, Entry& entry, Time end, Time now) {
  Lease& lease = *entry.lease;
  lease.end = end;
  lease.set_at = now;
  ++lease.extension;
  lease.is_extending = true;
  for (const HeldBoard& part : lease.parts) state.boards.set_lease(state.boards.at(part.board), entry.request.id, end);
  state.outbox.record(record_of(state, entry));
  state.outbox.after_commit(AnnounceExtension{entry.request.id, lease.extension});
  set_timers_of_end(state, entry);
}

void acknowledge(State& state, Entry& entry, HeldBoard& part, std::optional<std::uint32_t> extension, Time now) {
  Lease& lease = *entry.lease;
  part.is_acknowledged = true;
  state.boards.at(part.board).unanswered = 0;
  if (!lease.is_granted) return grant_if_acknowledged(state, entry, now);
  if (!extension) return;
  part.acknowledged_extension = std::max(part.acknowledged_extension, *extension);
  const bool is_extended = std::all_of(lease.parts.begin(), lease.parts.end(), [&](const HeldBoard& one) {
    return one.acknowledged_extension == lease.extension;
  });
  if (!is_extended) return;
  lease.confirmed_end = lease.end;
  if (!std::exchange(lease.is_extending, false)) return;
  if (entry.client) state.outbox.send(TellExtension{*entry.client, entry.request.id, lease.end - now, ""});
}

void grant_if_acknowledged(State& state, Entry& entry, Time now) {
  Lease& lease = *entry.lease;
  const bool is_acknowledged =
      std::all_of(lease.parts.begin(), lease.parts.end(), [](const HeldBoard& part) { return part.is_acknowledged; });
  if (!is_acknowledged) return;
  lease.is_granted = true;
  if (!entry.client) return;
  // More was never promised, even if the clock was set back since the lease began.
  const Duration remaining = std::min(lease.end - now, entry.request.length);
  state.outbox.send(TellGranted{*entry.client, entry.request.id, record_of(state, entry).parts, remaining});
}

void roll_back(State& state, Entry& entry, Time now) {
  for (const HeldBoard& part : entry.lease->parts) {
    Board& board = state.boards.at(part.board);
    if (part.is_acknowledged || !board.connected) continue;
    board.is_paused = true;
    const bool is_in_use = board.record.state == BoardState::good || board.record.state == BoardState::unknown;
    if (++board.unanswered >= kMaxUnanswered && is_in_use)
      set_board_state(state, board, BoardState::suspect, "it does not acknowledge leases");
  }
  free_boards(state, entry, now);
  entry.lease.reset();
  state.outbox.record(RollbackRecord{entry.request.id});
  join_queue(state, entry);
  state.timers.set(entry.waiting.submitted + entry.request.wait, TimerKind::wait_end,
                   static_cast<std::uint64_t>(entry.request.id));
}

void end_request(State& state, Entry& entry, EndReason reason, const std::string& text, Time now) {
  const LeaseId id = entry.request.id;
  state.outbox.record(EndRecord{id, now, reason, text});
  if (entry.lease) {
    if (entry.lease->is_granted) remember_hold_time(state, *entry.lease, now);
    free_boards(state, entry, now);
    const FairShare::Usage& usage = state.shares.usage(entry.request.holder);
    state.outbox.record(HolderRecord{entry.request.holder, usage.weight, usage.board_seconds, usage.at});
  } else {
    leave_queue(state, entry);
    // It may have held boards as the one that collects.
    state.must_schedule = true;
  }
  if (entry.client) {
    state.outbox.after_commit(Action(TellEnded{*entry.client, id, reason, text}));
    if (const auto client = state.clients.find(*entry.client); client != state.clients.end()) {
      client->second.requests.erase(id);
      if (client->second.requests.empty()) forget_client(state, *entry.client);
    }
  }
  state.ended_ids.add(id, entry.waiting.holder);
  cancel_timers(state, id);
  state.entries.erase(id);
}

void lose_client(State& state, ClientConnection connection, EndReason reason, const std::string& text, Time now) {
  const auto found = state.clients.find(connection);
  if (found == state.clients.end()) return;
  const std::set<LeaseId> requests = std::move(found->second.requests);
  forget_client(state, connection);
  for (const LeaseId id : requests) {
    Entry& entry = *state.find(id);
    if (entry.request.kind == LeaseKind::attached) {
      end_request(state, entry, reason, text, now);
    } else {
      entry.client.reset();
    }
  }
}

void set_board_state(State& state, Board& board, BoardState new_state, const std::string& reason) {
  if (board.record.state == new_state) return;
  board.record.state = new_state;
  state.outbox.record(board.record);
  state.outbox.after_commit(Action(BoardStateChanged{board.record.id, new_state, reason}));
  state.boards.refresh(board);
  state.has_queue_changed = true;
}

lease::LeaseKey key_of(const Entry& entry, const HeldBoard& part) {
  return {static_cast<std::uint64_t>(entry.request.id), part.epoch};
}

HeldBoard* part_of(State& state, const Board& board) {
  if (!board.lease) return nullptr;
  std::vector<HeldBoard>& parts = state.find(*board.lease)->lease->parts;
  return &*std::find_if(parts.begin(), parts.end(), [&](const HeldBoard& part) { return part.board == board.index; });
}

}  // namespace ferry::farm
