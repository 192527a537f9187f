// The connections of boards: their messages become events of the scheduler, and its actions about boards become
// messages to them.
#pragma once

#include "farm/tracker/core.h"

namespace ferry::farm {

// The first request must be a valid join under the key of a board or of an enrolment. Returns why the board is refused.
Status admit_board(Core& core, server::HandshakenClient& client, const Credential& credential);

Status handle_board_event(Core& core, ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body);

void board_left(Core& core, ConnectionNumber number);

void carry_out(Core& core, const AnnounceLease& action);
void carry_out(Core& core, const WithdrawLease& action);
void carry_out(Core& core, const ProbeBoard& action);
void carry_out(Core& core, const CloseBoard& action);
void carry_out(Core& core, const BoardStateChanged& action);
void carry_out(Core& core, const ClaimsRefused& action);

}  // namespace ferry::farm
