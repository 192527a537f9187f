// The steps in the life of a request and its lease. Each changes the state, and records that.
#pragma once

#include <optional>
#include <string>

#include "farm/core/lease/state.h"

namespace ferry::farm {

// Adds a request, which waits. The request must be valid.
Entry& add_entry(State& state, const Request& request, Time submitted);

// Removes a request that was just added, as if it had never been.
void drop_entry(State& state, Entry& entry);

// Makes the request the holder of these boards, without recording it or telling anybody.
void hold_boards(State& state, Entry& entry, const std::vector<std::uint32_t>& boards, Time start, Time end);

// Gives a waiting request these boards. They hear of it when that is committed.
void start_lease(State& state, Entry& entry, const std::vector<std::uint32_t>& boards, Time now);

// Sends the announcements of a lease that is committed.
void announce(State& state, const AnnounceStart& start, Time now);
void announce(State& state, const AnnounceExtension& extension, Time now);

// The board of `part` serves the lease; with which extension is unknown if it is the board that has connected again.
void acknowledge(State& state, Entry& entry, HeldBoard& part, std::optional<std::uint32_t> extension, Time now);

// Tells the client that it has the lease, unless there is a board that has not acknowledged it.
void grant_if_acknowledged(State& state, Entry& entry, Time now);

// Lets the lease last until `end`, which must not be earlier than before. The boards hear of it when that is committed.
void extend_lease(State& state, Entry& entry, Time end, Time now);

// Takes the boards back; the request waits again, with its age.
void roll_back(State& state, Entry& entry, Time now);

// Ends a request, with its lease if it has one. `entry` does not exist any more afterwards.
void end_request(State& state, Entry& entry, EndReason reason, const std::string& text, Time now);

// Ends what is attached to the client's connection, and forgets the connection.
void lose_client(State& state, ClientConnection connection, EndReason reason, const std::string& text, Time now);

// Sets a board's state, records it and makes it known.
void set_board_state(State& state, Board& board, BoardState new_state, const std::string& reason);

// The name by which a lease is known to a board.
lease::LeaseKey key_of(const Entry& entry, const HeldBoard& part);
// The part of the board's lease that it holds; null if it has no lease.
HeldBoard* part_of(State& state, const Board& board);

}  // namespace ferry::farm
