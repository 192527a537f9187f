#include "host/farm/tracker/ssh_boards.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "host/farm/tracker/board_door.h"
#include "host/farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

using std::chrono::milliseconds;

// One lost packet or a slow login is no reason to end a lease.
constexpr unsigned kFailuresToLeave = 2;

lease::BootTime boot_time_of(const wire::Heartbeat& heartbeat, std::chrono::steady_clock::duration since) {
  return lease::BootTime(milliseconds(heartbeat.boot_ms) + std::chrono::duration_cast<milliseconds>(since));
}

}  // namespace

SshBoards::~SshBoards() {
  for (const auto& [id, board] : boards_) prober_.forget(id);
}

void SshBoards::set_address(BoardId board, const std::string& address) {
  const auto found = boards_.find(board);
  if (found != boards_.end() && found->second.address == address) return;
  if (found != boards_.end()) {
    leave(found->second);
    prober_.forget(board);
    boards_.erase(board);
  }
  if (address.empty()) return;
  boards_[board].address = address;
  prober_.watch(board, address);
}

SshBoards::SshBoard* SshBoards::find(BoardConnection connection) {
  const auto found = connections_.find(static_cast<ConnectionNumber>(connection));
  return found == connections_.end() ? nullptr : &boards_.at(found->second);
}

void SshBoards::look() {
  const SteadyTime now = std::chrono::steady_clock::now();
  const bool is_beat_due = now >= beat_at_;
  if (is_beat_due) beat_at_ = now + wire::kHeartbeatPeriod;
  for (auto& [id, board] : boards_) {
    if (board.connection == 0) continue;
    if (is_beat_due) beat(board, 0);
    if (!board.lease || boot_time_of(board.heartbeat, now - board.heard_at) < board.lease->end) continue;
    const lease::LeaseKey over = std::exchange(board.lease, std::nullopt)->key;
    core_.handle(BoardLeaseOver{BoardConnection{board.connection}, over});
  }
}

// Between two probes the board counts as it was at the last one.
void SshBoards::beat(SshBoard& board, std::uint64_t probe) {
  const auto since = std::chrono::steady_clock::now() - board.heard_at;
  core_.handle(BoardHeartbeat{BoardConnection{board.connection}, boot_time_of(board.heartbeat, since),
                              board.heartbeat.millidegrees, board.heartbeat.is_throttled, probe});
}

void SshBoards::say(BoardId id, SshBoard& board, const std::string& why) {
  if (std::exchange(board.why_not, why) != why && !why.empty()) core_.log("board " + core_.name_of(id) + ": " + why);
}

void SshBoards::probed(const ProbedBoard& probed) {
  const auto found = boards_.find(probed.board);
  if (found == boards_.end() || found->second.address != probed.address || !core_.scheduler) return;
  SshBoard& board = found->second;
  if (!probed.failure.is_ok()) {
    say(probed.board, board, probed.failure.message());
    if (++board.failures >= kFailuresToLeave) leave(board);
    return;
  }
  board.failures = 0;
  const auto view = core_.scheduler->machine().find_board(probed.board);
  if (!view || view->record->state == BoardState::retired) return;
  if (board.connection != 0 && board.boot_id != probed.boot_id) leave(board);
  if (!core_.scheduler) return;
  if (board.connection == 0) {
    // Its own server knows better, and guards its leases itself.
    const auto now = core_.scheduler->machine().find_board(probed.board);
    if (now && now->connection) return say(probed.board, board, "it has joined by itself, so its address is not used");
    return join(probed.board, board, probed);
  }
  board.heartbeat = probed.heartbeat;
  board.heard_at = std::chrono::steady_clock::now();
  const auto facts = core_.board_connections.find(board.connection);
  if (facts != core_.board_connections.end()) facts->second.heartbeat = board.heartbeat;
  beat(board, 0);
}

// The lease that the board serves, as far as the tracker knows: unless the system was started again, nothing has ended
// it. So it goes on when another tracker takes over, or after the board could not be reached for a while.
std::optional<lease::LeaseKey> SshBoards::served_by(BoardId id, std::uint64_t boot_id) const {
  const auto view = core_.scheduler->machine().find_board(id);
  if (!view || !view->lease || view->record->boot_id != boot_id) return std::nullopt;
  const auto request = core_.scheduler->machine().find_request(*view->lease);
  if (!request) return std::nullopt;
  for (const LeasePart& part : request->parts)
    if (part.board == id) return lease::LeaseKey{static_cast<std::uint64_t>(*view->lease), part.epoch};
  return std::nullopt;
}

// Boards with a server keep a ceiling of epochs on their disks because a server might forget which lease it served.
// Here the last epoch of the database is enough: the tracker itself serves the lease, and counts on from there after a
// restart. Only a database that comes from a backup is behind, and then the board's lock file says how far.
void SshBoards::join(BoardId id, SshBoard& board, const ProbedBoard& probed) {
  board.connection = ++last_;
  connections_[board.connection] = id;
  board.boot_id = probed.boot_id;
  board.heartbeat = probed.heartbeat;
  board.heard_at = std::chrono::steady_clock::now();
  board.why_not.clear();
  const auto serving = served_by(id, probed.boot_id);
  core_.board_connections[board.connection] = {id, fit(board.address, wire::kMaxText), {}, board.heartbeat};
  core_.log("board " + core_.name_of(id) + " is reached at " + board.address);
  core_.handle(BoardJoined{BoardConnection{board.connection}, id, probed.boot_id, boot_time_of(board.heartbeat, {}),
                           probed.ceiling, serving, from_wire(probed.description)});
  core_.on_change();
}

void SshBoards::leave(SshBoard& board) {
  const ConnectionNumber number = std::exchange(board.connection, 0);
  board.lease.reset();
  if (number == 0) return;
  connections_.erase(number);
  board_left(core_, number);
}

bool SshBoards::take(const Action& action) {
  if (const auto* announced = std::get_if<AnnounceLease>(&action)) {
    SshBoard* const board = find(announced->connection);
    if (board == nullptr) return false;
    board->lease = announced->announcement;
    core_.handle(
        BoardAcknowledged{announced->connection, announced->announcement.key, announced->announcement.extension});
    return true;
  }
  if (const auto* withdrawn = std::get_if<WithdrawLease>(&action)) {
    SshBoard* const board = find(withdrawn->connection);
    if (board != nullptr && board->lease && board->lease->key == withdrawn->key) board->lease.reset();
    return board != nullptr;
  }
  if (const auto* probe = std::get_if<ProbeBoard>(&action)) {
    SshBoard* const board = find(probe->connection);
    if (board != nullptr) beat(*board, probe->probe);
    return board != nullptr;
  }
  if (const auto* closed = std::get_if<CloseBoard>(&action)) {
    if (SshBoard* const board = find(closed->connection)) {
      connections_.erase(std::exchange(board->connection, 0));
      board->lease.reset();
    }
  }
  return false;
}

}  // namespace ferry::farm
