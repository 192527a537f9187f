#include "farm/tracker/ssh_boards.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/format.h"
#include "farm/tracker/wire_types.h"

namespace ferry::farm {
namespace {

using std::chrono::milliseconds;

// One lost packet or a slow login is no reason to end a lease.
constexpr unsigned kFailuresToLeave = 2;
// By so many leases a database that was restored from a backup may be behind.
constexpr lease::Epoch kMostLost = 1'000'000;

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

void SshBoards::tick() {
  const SteadyTime now = std::chrono::steady_clock::now();
  const bool is_beat_due = now >= beat_at_;
  if (is_beat_due) beat_at_ = now + wire::kHeartbeatPeriod;
  for (auto& [id, board] : boards_) {
    if (board.connection == 0) continue;
    if (is_beat_due) beat(board, 0);
    if (!board.lease || boot_time_of(board.heartbeat, now - board.heard_at) < board.lease->end) continue;
    const lease::LeaseKey over = std::exchange(board.lease, std::nullopt)->key;
    look_for_locks(id);
    scheduler_.handle(BoardLeaseOver{BoardConnection{board.connection}, over});
  }
}

// Between two probes the board counts as it was at the last one.
void SshBoards::beat(SshBoard& board, std::uint64_t probe) {
  const auto since = std::chrono::steady_clock::now() - board.heard_at;
  scheduler_.handle(BoardHeartbeat{BoardConnection{board.connection}, boot_time_of(board.heartbeat, since),
                                   board.heartbeat.millidegrees, board.heartbeat.is_throttled, probe});
}

void SshBoards::say(BoardId id, SshBoard& board, const std::string& why) {
  if (std::exchange(board.why_not, why) != why && !why.empty()) log_("board " + registry_.name_of(id) + ": " + why);
}

void SshBoards::probed(const ProbedBoard& probed) {
  const auto found = boards_.find(probed.board);
  if (found == boards_.end() || found->second.address != probed.address || !scheduler_) return;
  SshBoard& board = found->second;
  if (!probed.failure.is_ok()) {
    say(probed.board, board, probed.failure.message());
    if (++board.failures >= kFailuresToLeave) leave(board);
    return;
  }
  board.failures = 0;
  const auto view = scheduler_.machine().find_board(probed.board);
  if (!view || view->record->state == BoardState::retired) return;
  if (board.connection != 0 && board.boot_id != probed.boot_id) leave(board);
  if (!scheduler_) return;
  if (board.connection == 0) {
    // Its own server knows better, and guards its leases itself.
    const auto now = scheduler_.machine().find_board(probed.board);
    if (now && now->connection) return say(probed.board, board, "it has joined by itself, so its address is not used");
    return join(probed.board, board, probed);
  }
  remove_forged(probed.board, board, probed.locks, view->record->last_epoch);
  board.heartbeat = probed.heartbeat;
  board.heard_at = std::chrono::steady_clock::now();
  if (BoardFacts* const facts = registry_.find_connection(board.connection)) facts->heartbeat = board.heartbeat;
  beat(board, 0);
}

// The lease that the board serves, as far as the tracker knows: unless the system was started again, nothing has ended
// it. So it goes on when another tracker takes over, or after the board could not be reached for a while.
std::optional<lease::LeaseKey> SshBoards::served_by(BoardId id, std::uint64_t boot_id) const {
  const auto view = scheduler_.machine().find_board(id);
  if (!view || !view->lease || view->record->boot_id != boot_id) return std::nullopt;
  const auto request = scheduler_.machine().find_request(*view->lease);
  if (!request) return std::nullopt;
  for (const LeasePart& part : request->parts)
    if (part.board == id) return lease::LeaseKey{static_cast<std::uint64_t>(*view->lease), part.epoch};
  return std::nullopt;
}

// The tracker has handed out no lease whose epoch is above that of its last one, so the lock file of such a lease is
// forged. Its name alone is removed: by the time the board is asked again, there may be a lease with this epoch.
void SshBoards::remove_forged(BoardId id, SshBoard& board, const std::vector<LockFile>& locks, lease::Epoch above) {
  KnownLocks known{above, {}};
  lease::Epoch greatest = 0;
  for (const LockFile& lock : locks) {
    if (lock.epoch <= above) continue;
    greatest = std::max(greatest, lock.epoch);
    known.forged.push_back(lock.name);
  }
  std::string text;
  for (const std::string& name : known.forged) text += name + " ";
  const bool is_new = std::exchange(board.forged, text) != text;
  // What is reported without need may keep others out of the report, which has room for a few.
  const bool is_behind = std::ranges::any_of(locks, [&](const LockFile& lock) { return lock.epoch <= above; });
  if (known.forged.empty() && is_behind) prober_.hurry(id, known);
  if (known.forged.empty() || !is_new) return;
  log_(
      format("board %s: its last lease has epoch %llu, so %zu lock files of later ones, up to epoch %llu, are "
             "forged; they are removed",
             registry_.name_of(id).c_str(), static_cast<unsigned long long>(above), known.forged.size(),
             static_cast<unsigned long long>(greatest)));
  prober_.hurry(id, known);
}

void SshBoards::look_for_locks(BoardId id) {
  const auto view = scheduler_ ? scheduler_.machine().find_board(id) : std::nullopt;
  if (view) prober_.hurry(id, {view->record->last_epoch, {}});
}

// Boards with a server keep a ceiling of epochs on their disks because a server might forget which lease it served.
// Here the last epoch of the database is enough: the tracker itself serves the lease, and counts on from there after a
// restart. Only a database that comes from a backup is behind, and then the board's lock files say how far.
void SshBoards::join(BoardId id, SshBoard& board, const ProbedBoard& probed) {
  board.connection = ++last_;
  connections_[board.connection] = id;
  board.boot_id = probed.boot_id;
  board.heartbeat = probed.heartbeat;
  board.heard_at = std::chrono::steady_clock::now();
  board.why_not.clear();
  const auto serving = served_by(id, probed.boot_id);
  registry_.connect(board.connection, {id, fit(board.address, wire::kMaxText), {}, board.heartbeat});
  log_("board " + registry_.name_of(id) + " is reached at " + board.address);
  const auto view = scheduler_.machine().find_board(id);
  const lease::Epoch last = view ? view->record->last_epoch : 0;
  lease::Epoch ceiling = last;
  for (const LockFile& lock : probed.locks)
    if (lock.epoch <= last + kMostLost) ceiling = std::max(ceiling, lock.epoch);
  if (ceiling > last)
    log_(
        format("board %s has the lock file of a lease with epoch %llu, later than any that the database knows: "
               "the farm goes on above it",
               registry_.name_of(id).c_str(), static_cast<unsigned long long>(ceiling)));
  remove_forged(id, board, probed.locks, ceiling);
  scheduler_.handle(BoardJoined{BoardConnection{board.connection}, id, probed.boot_id,
                                boot_time_of(board.heartbeat, {}), ceiling, serving, from_wire(probed.description)});
  on_change_();
}

void SshBoards::leave(SshBoard& board) {
  const ConnectionNumber number = std::exchange(board.connection, 0);
  board.lease.reset();
  if (number == 0) return;
  connections_.erase(number);
  board_connections_.left(number);
}

bool SshBoards::handle(const Action& action) {
  if (const auto* announced = std::get_if<AnnounceLease>(&action)) {
    SshBoard* const board = find(announced->connection);
    if (board == nullptr) return false;
    board->lease = announced->announcement;
    scheduler_.handle(
        BoardAcknowledged{announced->connection, announced->announcement.key, announced->announcement.extension});
    return true;
  }
  if (const auto* withdrawn = std::get_if<WithdrawLease>(&action)) {
    SshBoard* const board = find(withdrawn->connection);
    if (board == nullptr) return false;
    if (board->lease && board->lease->key == withdrawn->key) {
      board->lease.reset();
      look_for_locks(connections_.at(static_cast<ConnectionNumber>(withdrawn->connection)));
    }
    return true;
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
