// Clients ask for leases, keep them and give them back.
#include <algorithm>

#include "base/format.h"
#include "base/quantity.h"
#include "farm/core/lease/handlers.h"
#include "farm/core/lease/lease_life.h"
#include "farm/core/lease/limits.h"
#include "farm/core/lease/servable.h"

namespace ferry::farm {
namespace {

std::optional<std::string> why_invalid(const Request& request) {
  if (request.slots.empty() || request.slots.size() > kMaxSlots)
    return format("expected 1 to %zu boards, got %zu", kMaxSlots, request.slots.size());
  if (request.priority > kMaxPriority)
    return format("expected a priority from 0 to %u, got %u", kMaxPriority, request.priority);
  if (request.length <= Duration::zero() || request.length > kMaxLease)
    return "expected a lease of more than 0s and at most " + written_span(kMaxLease.count()) + ", got " +
           written_span(request.length.count());
  if (request.wait < Duration::zero() || request.wait > kMaxWait)
    return "expected a wait of at most " + written_span(kMaxWait.count()) + ", got " +
           written_span(request.wait.count());
  return std::nullopt;
}

void attach(State& state, Entry& entry, ClientConnection connection, Time now) {
  // A client whose earlier connection is not known to have ended yet keeps what it has.
  if (entry.client && *entry.client != connection)
    if (const auto old = state.clients.find(*entry.client); old != state.clients.end())
      old->second.requests.erase(entry.request.id);
  entry.client = connection;
  entry.must_attach = false;
  const auto [client, is_new] = state.clients.try_emplace(connection);
  client->second.heard_at = now;
  client->second.requests.insert(entry.request.id);
  if (is_new) state.timers.set(now + kSilence, TimerKind::client_silence, static_cast<std::uint64_t>(connection));
}

void submit(State& state, ClientConnection client, const Request& request, Time now) {
  const auto refuse = [&](EndReason reason, const std::string& text) {
    state.outbox.send(TellEnded{client, request.id, reason, text});
  };
  if (const auto why = why_invalid(request)) return refuse(EndReason::invalid, *why);
  if (state.queue.size() >= kMaxWaiting)
    return refuse(EndReason::queue_full, format("%zu requests wait already", state.queue.size()));
  const auto own =
      std::ranges::count_if(state.queue, [&](const Entry* other) { return other->request.holder == request.holder; });
  if (!request.is_health_check && static_cast<std::size_t>(own) >= kMaxWaitingOfHolder)
    return refuse(EndReason::queue_full, format("%zu requests of this holder wait already", kMaxWaitingOfHolder));
  Entry& entry = add_entry(state, request, now);
  if (const auto why = why_unservable(state, entry)) {
    drop_entry(state, entry);
    return refuse(EndReason::unservable, *why);
  }
  state.outbox.record(RequestRecord{request, now});
  attach(state, entry, client, now);
}

// Nobody gets the lease of another one by guessing its id, or passes for a lease that has ended.
bool refuse_other_holder(State& state, const Entry* entry, ClientConnection client, const Request& request) {
  const bool is_of_other = entry == nullptr ? state.ended_ids.is_of_other(request.id, state.number_of(request.holder))
                                            : entry->request.holder != request.holder;
  if (!is_of_other) return false;
  state.outbox.send(ForeignIdRefused{client, request.id});
  state.outbox.send(TellEnded{client, request.id, EndReason::invalid, "the request is not that of this holder"});
  return true;
}

// Whether somebody else waits for a board of this lease, or for another one of its machine. Health checks can wait.
bool is_waited_for(const State& state, const Entry& entry) {
  BoardSet kept;
  for (const HeldBoard& part : entry.lease->parts)
    for (const std::uint32_t board : state.boards.unit_of(state.boards.at(part.board))) kept.set(board);
  return std::any_of(state.queue.begin(), state.queue.end(), [&](const Entry* other) {
    if (other->request.holder == entry.request.holder || other->request.is_health_check) return false;
    return std::any_of(other->pools.begin(), other->pools.end(),
                       [&](const auto& pool) { return pool->boards.intersects(kept); });
  });
}

std::string why_not_extended(const State& state, const Entry& entry, Duration length) {
  if (length > kMaxLease)
    return "expected an extension to at most " + written_span(kMaxLease.count()) + ", got " +
           written_span(length.count());
  if (entry.lease->is_extending) return "another extension is in progress";
  if (is_waited_for(state, entry)) return "others wait for the board";
  for (const HeldBoard& part : entry.lease->parts) {
    const Board& board = state.boards.at(part.board);
    if (!board.connected) return "board " + board.record.description.name + " is not connected";
  }
  return "";
}

}  // namespace

void handle_event(State& state, const RequestSubmitted& event, Time now) {
  Entry* entry = state.find(event.request.id);
  if (refuse_other_holder(state, entry, event.client, event.request)) return;
  if (entry != nullptr) return attach(state, *entry, event.client, now);
  submit(state, event.client, event.request, now);
}

void handle_event(State& state, const RequestAttached& event, Time now) {
  Entry* entry = state.find(event.request.id);
  if (refuse_other_holder(state, entry, event.client, event.request)) return;
  if (entry == nullptr) {
    // The request had not been committed when its tracker stopped.
    if (!event.is_granted) return submit(state, event.client, event.request, now);
    state.outbox.send(
        TellEnded{event.client, event.request.id, EndReason::unknown_lease, "the tracker does not know the lease"});
    return;
  }
  attach(state, *entry, event.client, now);
  entry->told_place = 0;
  state.has_queue_changed = true;
  // A request that waited for its client can start now.
  if (!entry->lease) state.must_schedule = true;
  if (!entry->lease || event.is_granted) return;
  Lease& lease = *entry->lease;
  if (!lease.is_granted) return grant_if_acknowledged(state, *entry, now);
  lease.is_granted = false;
  grant_if_acknowledged(state, *entry, now);
  if (lease.is_granted) return;
  lease.acknowledge_by = now + kAttachTimeout;
  state.timers.set(lease.acknowledge_by, TimerKind::acknowledgement, static_cast<std::uint64_t>(entry->request.id));
}

void handle_event(State& state, const LeaseReleased& event, Time now) {
  Entry* entry = state.find(event.lease);
  if (entry == nullptr) return;
  const bool has_lease = entry->lease.has_value();
  end_request(state, *entry, has_lease ? EndReason::released : EndReason::cancelled,
              has_lease ? "its holder has released it" : "its holder has cancelled it", now);
}

void handle_event(State& state, const ExtensionRequested& event, Time now) {
  Entry* entry = state.find(event.lease);
  if (entry == nullptr || !entry->lease || !entry->lease->is_granted || !entry->client) return;
  Lease& lease = *entry->lease;
  const std::string refusal = why_not_extended(state, *entry, event.length);
  if (!refusal.empty() || now + event.length <= lease.confirmed_end) {
    // A lease that lasts longer already stays as it is.
    const Duration remaining = std::max(Duration::zero(), lease.confirmed_end - now);
    state.outbox.send(TellExtension{*entry->client, event.lease, remaining, refusal});
    return;
  }
  extend_lease(state, *entry, std::max(lease.end, now + event.length), now);
}

void handle_event(State& state, const LeaseRevoked& event, Time now) {
  Entry* entry = state.find(event.lease);
  if (entry != nullptr) end_request(state, *entry, EndReason::revoked, "an admin has ended it", now);
}

void handle_event(State& state, const ClientHeard& event, Time now) {
  if (const auto client = state.clients.find(event.client); client != state.clients.end())
    client->second.heard_at = now;
}

void handle_event(State& state, const ClientLeft& event, Time now) {
  lose_client(state, event.client, EndReason::client_gone, "the connection of its client has ended", now);
}

void handle_event(State& state, const HolderWeighted& event, Time) {
  state.shares.set_weight(event.holder, event.weight);
  const FairShare::Usage& usage = state.shares.usage(event.holder);
  state.outbox.record(HolderRecord{event.holder, usage.weight, usage.board_seconds, usage.at});
}

}  // namespace ferry::farm
