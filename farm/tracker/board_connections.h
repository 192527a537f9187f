// The connections of boards: their messages become events of the scheduler, and its actions about boards become
// messages to them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/credential_service.h"
#include "farm/tracker/log.h"
#include "farm/tracker/peers.h"
#include "farm/tracker/session_log.h"

namespace ferry::farm {

class BoardConnections {
 public:
  struct Callbacks {
    Log log;
    // Called when the state of a board changes.
    std::function<void(const std::string& board, BoardState before, BoardState after, const std::string& reason)>
        on_state;
    // Called when what listings show changes.
    std::function<void()> on_change;
  };

  // All must outlive this object.
  BoardConnections(const ActiveScheduler& scheduler, BoardRegistry& boards, Peers& peers,
                   CredentialService& credentials, SessionLog& sessions, Callbacks callbacks)
      : scheduler_(scheduler),
        boards_(boards),
        peers_(peers),
        credentials_(credentials),
        sessions_(sessions),
        callbacks_(std::move(callbacks)) {}
  BoardConnections(const BoardConnections&) = delete;
  BoardConnections& operator=(const BoardConnections&) = delete;

  // The first request must be a valid join under the key of a board or of an enrolment. Returns why the board is
  // refused. Requires that the tracker schedules.
  Status admit(server::HandshakenClient& client, const Credential& credential);
  Status handle_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body);
  // Does nothing if this was no connection of a board.
  void left(ConnectionNumber number);
  // Forgets all connections, which have been closed.
  void forget_all();

  void carry_out(const AnnounceLease& action);
  void carry_out(const WithdrawLease& action);
  void carry_out(const ProbeBoard& action);
  void carry_out(const CloseBoard& action);
  void carry_out(const BoardStateChanged& action);
  void carry_out(const ClaimsRefused& action);

 private:
  Status handle(ConnectionNumber from, BoardFacts& facts, const wire::Heartbeat& heartbeat);
  Status handle(ConnectionNumber from, BoardFacts& facts, const wire::Acknowledged& message);
  Status handle(ConnectionNumber from, BoardFacts& facts, const wire::LeaseOver& message);
  Status handle(ConnectionNumber from, BoardFacts& facts, const wire::SessionEnded& message);
  template <class Message>
  Status decode_and_handle(ConnectionNumber from, BoardFacts& facts, std::span<const std::uint8_t> body);

  const ActiveScheduler& scheduler_;
  BoardRegistry& boards_;
  Peers& peers_;
  CredentialService& credentials_;
  SessionLog& sessions_;
  Callbacks callbacks_;
  // Connections under the key of an enrolment, which only wait for their own key.
  std::unordered_map<ConnectionNumber, BoardId> enrolling_;
  std::unordered_map<BoardId, BoardState> states_;  // as last told
};

}  // namespace ferry::farm
