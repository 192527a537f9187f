#include "farm/tracker/board_connections.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/tracker/wire_types.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {
namespace {

// No farm hands out as many leases, and the tracker must be able to count on from there.
constexpr lease::Epoch kMostEpoch = lease::Epoch{1} << 62;

lease::BootTime boot_time(std::uint64_t count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  return lease::BootTime(std::chrono::milliseconds(std::min(count, kMost)));
}

bool may_stand_in_address(char one) {
  return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9') ||
         std::string_view(".-_:%[]").find(one) != std::string_view::npos;
}

// Clients and the health check connect to the address of a board. With another kind, such as ssh://, they would log in
// where the board sends them; only farm.toml may name those.
Status check_join(const wire::Join& join) {
  const auto address = parse_tcp_address(join.address, 0);
  if (join.address.size() > wire::kMaxText || !std::ranges::all_of(join.address, may_stand_in_address) ||
      !address.is_ok() || address.value().port == 0)
    return {ErrorCode::invalid_argument,
            "expected HOST:PORT as the address of the board, got '" + fit(join.address, wire::kMaxText) + "'"};
  if (join.ceiling > kMostEpoch)
    return {ErrorCode::invalid_argument,
            format("expected a ceiling of epochs of at most %llu, got %llu",
                   static_cast<unsigned long long>(kMostEpoch), static_cast<unsigned long long>(join.ceiling))};
  return {};
}

BoardConnection as_board(ConnectionNumber number) { return BoardConnection{number}; }
ConnectionNumber number_of(BoardConnection connection) { return static_cast<ConnectionNumber>(connection); }

}  // namespace

Status BoardConnections::handle(ConnectionNumber from, BoardFacts& facts, const wire::Heartbeat& heartbeat) {
  facts.heartbeat = heartbeat;
  peers_.send(from, wire::Keepalive{});
  scheduler_.handle(BoardHeartbeat{as_board(from), boot_time(heartbeat.boot_ms), heartbeat.millidegrees,
                                   heartbeat.is_throttled, heartbeat.probe});
  return {};
}

Status BoardConnections::handle(ConnectionNumber from, BoardFacts&, const wire::Acknowledged& message) {
  scheduler_.handle(BoardAcknowledged{as_board(from), message.key, message.extension});
  return {};
}

Status BoardConnections::handle(ConnectionNumber from, BoardFacts&, const wire::LeaseOver& message) {
  scheduler_.handle(BoardLeaseOver{as_board(from), message.key});
  return {};
}

Status BoardConnections::handle(ConnectionNumber, BoardFacts& facts, const wire::SessionEnded& message) {
  sessions_.add(facts.board, message);
  return {};
}

template <class Message>
Status BoardConnections::decode_and_handle(ConnectionNumber from, BoardFacts& facts,
                                           std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const Message message, wire::decode<Message>(body));
  return handle(from, facts, message);
}

Status BoardConnections::admit(server::HandshakenClient& client, const Credential& credential) {
  FERRY_ASSIGN(wire::Join join, wire::decode<wire::Join>(client.body));
  FERRY_TRY(check_join(join));
  const BoardId board{id_of(credential)};
  if (!scheduler_.machine().find_board(board)) return {ErrorCode::unauthenticated, "this board is not enrolled"};
  const ConnectionNumber number =
      peers_.admit(Peers::Kind::board, std::move(client), wire::Joined{wire::kVersionMax, boards_.name_of(board)});
  // The answer may not have reached it.
  if (!scheduler_ || !peers_.contains(number)) return {};
  if (credential.kind == CredentialKind::enrolment) {
    const Credential* const own = credentials_.keys().find_id(CredentialKind::board, id_of(credential));
    if (own == nullptr || own->revoked) {
      peers_.close(number, "the key of this board was revoked");
      return {};
    }
    enrolling_[number] = board;
    peers_.send(number, wire::Rekey{credentials_.keys().key_of(*own).bytes});
    return {};
  }
  credentials_.confirm_enrolment(board);
  boards_.connect(number, {board, std::move(join.address), fit(join.description.server_version, wire::kMaxName), {}});
  std::optional<lease::LeaseKey> serving;
  if (join.serving.epoch != 0) serving = join.serving;
  callbacks_.log(
      format("board %s has joined from %s", boards_.name_of(board).c_str(), peers_.address_of(number).c_str()));
  scheduler_.handle(BoardJoined{as_board(number), board, join.boot_id, boot_time(join.boot_ms), join.ceiling, serving,
                                from_wire(join.description)});
  callbacks_.on_change();
  return {};
}

Status BoardConnections::handle_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) {
  BoardFacts* const facts = boards_.find_connection(from);
  if (facts == nullptr) {
    // It is enrolling, or another one has its place, and it does not know that yet.
    if (tag == wire::Tag::Heartbeat) peers_.send(from, wire::Keepalive{});
    return {};
  }
  switch (tag) {
    case wire::Tag::Heartbeat: return decode_and_handle<wire::Heartbeat>(from, *facts, body);
    case wire::Tag::Acknowledged: return decode_and_handle<wire::Acknowledged>(from, *facts, body);
    case wire::Tag::LeaseOver: return decode_and_handle<wire::LeaseOver>(from, *facts, body);
    case wire::Tag::SessionEnded: return decode_and_handle<wire::SessionEnded>(from, *facts, body);
    default: return {};
  }
}

void BoardConnections::left(ConnectionNumber number) {
  enrolling_.erase(number);
  const BoardFacts* const facts = boards_.find_connection(number);
  if (facts == nullptr) return;
  callbacks_.log("board " + boards_.name_of(facts->board) + " has left");
  boards_.disconnect(number);
  scheduler_.handle(BoardLeft{as_board(number)});
  callbacks_.on_change();
}

void BoardConnections::forget_all() {
  enrolling_.clear();
  boards_.disconnect_all();
}

void BoardConnections::carry_out(const AnnounceLease& action) {
  const ConnectionNumber number = number_of(action.connection);
  const BoardFacts* const facts = boards_.find_connection(number);
  if (facts == nullptr) return;
  const lease::Announcement& announced = action.announcement;
  const secure::Key key =
      credentials_.keys().lease_key(announced.key.lease, static_cast<std::uint64_t>(facts->board), announced.key.epoch);
  // An older board ignores this message, and keeps the files of all holders together.
  peers_.send(number, wire::LeaseHolder{announced.key, credentials_.keys().number_of(action.holder)});
  peers_.send(number, wire::Announce{announced.key, announced.extension,
                                     static_cast<std::uint64_t>(announced.end.time_since_epoch().count()), key.bytes});
}

void BoardConnections::carry_out(const WithdrawLease& action) {
  peers_.send(number_of(action.connection), wire::Withdraw{action.key});
}

void BoardConnections::carry_out(const ProbeBoard& action) {
  peers_.send(number_of(action.connection), wire::Probe{action.probe});
}

// The scheduler knows that the connection has ended.
void BoardConnections::carry_out(const CloseBoard& action) {
  const ConnectionNumber number = number_of(action.connection);
  if (const BoardFacts* const facts = boards_.find_connection(number)) {
    callbacks_.log("board " + boards_.name_of(facts->board) + ": " + action.reason);
    boards_.disconnect(number);
  }
  peers_.close(number, action.reason);
}

void BoardConnections::carry_out(const ClaimsRefused& action) {
  callbacks_.log(format("board %s: a model and tags that are names of other boards do not count: %s",
                        boards_.name_of(action.board).c_str(), join(", ", action.names).c_str()));
}

void BoardConnections::carry_out(const BoardStateChanged& action) {
  callbacks_.log(format("board %s is %s: %s", boards_.name_of(action.board).c_str(), board_state_name(action.state),
                        action.reason.c_str()));
  const auto [last, is_new] = states_.try_emplace(action.board, BoardState::unknown);
  callbacks_.on_state(boards_.name_of(action.board), std::exchange(last->second, action.state), action.state,
                      action.reason);
}

}  // namespace ferry::farm
