#include "farm/tracker/board_connections.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/tracker/admin_commands.h"
#include "farm/tracker/wire_types.h"
#include "rpc/transport/tcp_address.h"

namespace ferry::farm {
namespace {

using namespace wire;

// No farm hands out as many leases, and the tracker must be able to count on from there.
constexpr lease::Epoch kMostEpoch = lease::Epoch{1} << 62;
constexpr std::uint64_t kLongestSession = std::uint64_t{1} << 40;

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
Status check_join(const Join& join) {
  const auto address = parse_tcp_address(join.address, 0);
  if (join.address.size() > kMaxText || !std::ranges::all_of(join.address, may_stand_in_address) || !address.is_ok() ||
      address.value().port == 0)
    return {ErrorCode::invalid_argument,
            "expected HOST:PORT as the address of the board, got '" + fit(join.address, kMaxText) + "'"};
  if (join.ceiling > kMostEpoch)
    return {ErrorCode::invalid_argument,
            format("expected a ceiling of epochs of at most %llu, got %llu",
                   static_cast<unsigned long long>(kMostEpoch), static_cast<unsigned long long>(join.ceiling))};
  return {};
}

BoardConnection as_board(ConnectionNumber number) { return BoardConnection{number}; }
ConnectionNumber number_of(BoardConnection connection) { return static_cast<ConnectionNumber>(connection); }

Status handle(Core& core, ConnectionNumber from, BoardFacts& facts, const Heartbeat& heartbeat) {
  facts.heartbeat = heartbeat;
  core.peers.send(from, Keepalive{});
  core.handle(BoardHeartbeat{as_board(from), boot_time(heartbeat.boot_ms), heartbeat.millidegrees,
                             heartbeat.is_throttled, heartbeat.probe});
  return {};
}

Status handle(Core& core, ConnectionNumber from, BoardFacts&, const Acknowledged& message) {
  core.handle(BoardAcknowledged{as_board(from), message.key, message.extension});
  return {};
}

Status handle(Core& core, ConnectionNumber from, BoardFacts&, const LeaseOver& message) {
  core.handle(BoardLeaseOver{as_board(from), message.key});
  return {};
}

// The holder of the lease, if the lease has this board; empty: it has ended, which the database knows, or there is
// none. Another request may have the id of a lease that has ended, but no other lease has its epoch on the board.
std::string holder_of(const Core& core, const lease::LeaseKey& key, BoardId board) {
  const auto lease = core.scheduler->machine().find_request(LeaseId{key.lease});
  if (!lease) return {};
  const bool has_board = std::ranges::any_of(
      lease->parts, [&](const LeasePart& part) { return part.board == board && part.epoch == key.epoch; });
  return has_board ? lease->request->holder : std::string();
}

Status handle(Core& core, ConnectionNumber, BoardFacts& facts, const wire::SessionEnded& message) {
  Core::SessionCount& count = core.sessions_of[facts.board];
  if (++count.sessions > Core::kMaxSessionsOfBoard || core.sessions.size() >= Core::kMaxSessions) return {};
  const bool is_report_kept = message.failure.empty() || ++count.reports <= Core::kMaxReportsOfBoard;
  if (!message.failure.empty() && is_report_kept)
    core.log(core.name_of(facts.board) + ": a session has failed: " + message.failure);
  const LeaseId lease{message.key.lease};
  core.sessions.push_back({facts.board, core.scheduler->now(),
                           Duration(static_cast<Duration::rep>(std::min(message.length_ms, kLongestSession))), lease,
                           holder_of(core, message.key, facts.board), fit(message.client, kMaxText),
                           fit(message.failure, is_report_kept ? kMaxFailureBytes : kMaxText), message.key.epoch});
  return {};
}

template <class Message>
Status decode_and_take(Core& core, ConnectionNumber from, BoardFacts& facts, std::span<const std::uint8_t> body) {
  FERRY_ASSIGN(const Message message, decode<Message>(body));
  return handle(core, from, facts, message);
}

void forget(Core& core, const std::unordered_map<ConnectionNumber, BoardFacts>::iterator& connection) {
  const BoardId board = connection->second.board;
  core.last_facts[board] = std::move(connection->second);
  core.board_connections.erase(connection);
}

}  // namespace

Status admit_board(Core& core, server::HandshakenClient& client, const Credential& credential) {
  FERRY_ASSIGN(Join join, decode<Join>(client.body));
  FERRY_TRY(check_join(join));
  const BoardId board{id_of(credential)};
  if (!core.scheduler->machine().find_board(board)) return {ErrorCode::unauthenticated, "this board is not enrolled"};
  const ConnectionNumber number =
      core.peers.admit(Peers::Kind::board, std::move(client), Joined{kVersionMax, core.name_of(board)});
  // The answer may not have reached it.
  if (!core.scheduler || !core.peers.contains(number)) return {};
  if (credential.kind == CredentialKind::enrolment) {
    const Credential* const own = core.keys.find_id(CredentialKind::board, id_of(credential));
    if (own == nullptr || own->revoked) {
      core.peers.close(number, "the key of this board was revoked");
      return {};
    }
    core.enrolling[number] = board;
    core.peers.send(number, Rekey{core.keys.key_of(*own).bytes});
    return {};
  }
  confirm_enrolment(core, board);
  core.board_connections[number] = {board, std::move(join.address), fit(join.description.server_version, kMaxName), {}};
  std::optional<lease::LeaseKey> serving;
  if (join.serving.epoch != 0) serving = join.serving;
  core.log(format("board %s has joined from %s", core.name_of(board).c_str(), core.peers.address_of(number).c_str()));
  core.handle(BoardJoined{as_board(number), board, join.boot_id, boot_time(join.boot_ms), join.ceiling, serving,
                          from_wire(join.description)});
  core.on_change();
  return {};
}

Status handle_board_event(Core& core, ConnectionNumber from, Tag tag, std::span<const std::uint8_t> body) {
  const auto found = core.board_connections.find(from);
  if (found == core.board_connections.end()) {
    // It is enrolling, or another one has its place, and it does not know that yet.
    if (tag == Tag::Heartbeat) core.peers.send(from, Keepalive{});
    return {};
  }
  BoardFacts& facts = found->second;
  switch (tag) {
    case Tag::Heartbeat: return decode_and_take<Heartbeat>(core, from, facts, body);
    case Tag::Acknowledged: return decode_and_take<Acknowledged>(core, from, facts, body);
    case Tag::LeaseOver: return decode_and_take<LeaseOver>(core, from, facts, body);
    case Tag::SessionEnded: return decode_and_take<wire::SessionEnded>(core, from, facts, body);
    default: return {};
  }
}

void board_left(Core& core, ConnectionNumber number) {
  core.enrolling.erase(number);
  const auto found = core.board_connections.find(number);
  if (found == core.board_connections.end()) return;
  core.log("board " + core.name_of(found->second.board) + " has left");
  forget(core, found);
  core.handle(BoardLeft{as_board(number)});
  core.on_change();
}

void carry_out(Core& core, const AnnounceLease& action) {
  const ConnectionNumber number = number_of(action.connection);
  const auto found = core.board_connections.find(number);
  if (found == core.board_connections.end()) return;
  const lease::Announcement& announced = action.announcement;
  const secure::Key key =
      core.keys.lease_key(announced.key.lease, static_cast<std::uint64_t>(found->second.board), announced.key.epoch);
  // An older board ignores this message, and keeps the files of all holders together.
  core.peers.send(number, LeaseHolder{announced.key, core.keys.number_of(action.holder)});
  core.peers.send(number, Announce{announced.key, announced.extension,
                                   static_cast<std::uint64_t>(announced.end.time_since_epoch().count()), key.bytes});
}

void carry_out(Core& core, const WithdrawLease& action) {
  core.peers.send(number_of(action.connection), Withdraw{action.key});
}

void carry_out(Core& core, const ProbeBoard& action) {
  core.peers.send(number_of(action.connection), Probe{action.probe});
}

// The scheduler knows that the connection has ended.
void carry_out(Core& core, const CloseBoard& action) {
  const ConnectionNumber number = number_of(action.connection);
  if (const auto found = core.board_connections.find(number); found != core.board_connections.end()) {
    core.log("board " + core.name_of(found->second.board) + ": " + action.reason);
    forget(core, found);
  }
  core.peers.close(number, action.reason);
}

void carry_out(Core& core, const ClaimsRefused& action) {
  core.log(format("board %s: a model and tags that are names of other boards do not count: %s",
                  core.name_of(action.board).c_str(), join(", ", action.names).c_str()));
}

void carry_out(Core& core, const BoardStateChanged& action) {
  core.log(format("board %s is %s: %s", core.name_of(action.board).c_str(), board_state_name(action.state),
                  action.reason.c_str()));
  const auto [last, is_new] = core.states.try_emplace(action.board, BoardState::unknown);
  core.on_state(core.name_of(action.board), std::exchange(last->second, action.state), action.state, action.reason);
}

}  // namespace ferry::farm
