// The changes that events make to the state, one function an event.
#pragma once

#include "farm/core/lease/events.h"
#include "farm/core/lease/state.h"

namespace ferry::farm {

void handle_event(State& state, const BoardEnrolled& event, Time now);
void handle_event(State& state, const BoardJoined& event, Time now);
void handle_event(State& state, const BoardHeartbeat& event, Time now);
void handle_event(State& state, const BoardLeft& event, Time now);
void handle_event(State& state, const BoardAcknowledged& event, Time now);
void handle_event(State& state, const BoardLeaseOver& event, Time now);
void handle_event(State& state, const HealthChecked& event, Time now);
void handle_event(State& state, const BaselineMeasured& event, Time now);
void handle_event(State& state, const BoardOrdered& event, Time now);
void handle_event(State& state, const HolderWeighted& event, Time now);
void handle_event(State& state, const RequestSubmitted& event, Time now);
void handle_event(State& state, const RequestAttached& event, Time now);
void handle_event(State& state, const LeaseReleased& event, Time now);
void handle_event(State& state, const ExtensionRequested& event, Time now);
void handle_event(State& state, const LeaseRevoked& event, Time now);
void handle_event(State& state, const ClientHeard& event, Time now);
void handle_event(State& state, const ClientLeft& event, Time now);
void handle_event(State& state, const Persisted& event, Time now);

// The board's connection has ended. A contender takes its place.
void lose_board(State& state, Board& board, Time now);

void handle_timer(State& state, const Timer& timer, Time now);

// Enters the used share of its holder in each waiting request.
void update_shares(State& state, Time now);

// Starts all requests that can start.
void schedule(State& state, Time now);

// Tells the clients that wait their places, as far as these have changed.
void send_queue_notices(State& state, Time now);

}  // namespace ferry::farm
