// The boards on which nothing is installed: the tracker acts for them. It asks by ssh how they are, joins in their name
// while they can be reached, and acknowledges their leases. What keeps one lease's sessions from another's are lock
// files on the board itself, which carry the epochs (host/client/connect/ssh_script.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "farm/core/lease/lock_file.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/board_connections.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/log.h"

namespace ferry::farm {

// The result of asking a board.
struct ProbedBoard {
  BoardId board{};
  std::string address;
  Status failure;  // why it could not be asked; then the rest means nothing
  std::uint64_t boot_id = 0;
  std::vector<LockFile> locks;  // those of leases later than any that the tracker knew when it asked
  wire::Description description;
  wire::Heartbeat heartbeat;
};

// Asks the boards. All functions are called on the tracker's loop, on which it says what it has found out, again and
// again, to Tracker::probed().
class BoardProber {
 public:
  virtual ~BoardProber() = default;
  // The address replaces the board's former one.
  virtual void watch(BoardId board, const std::string& address) = 0;
  virtual void forget(BoardId board) = 0;
  // Asks a board that is watched again soon, and tells it which lock files it should not have.
  virtual void hurry(BoardId board, const KnownLocks& locks) = 0;
};

class SshBoards {
 public:
  // All must outlive this object. on_change() is called when what listings show changes.
  SshBoards(const ActiveScheduler& scheduler, BoardRegistry& boards, BoardConnections& connections, BoardProber& prober,
            std::function<void()> on_change, Log log)
      : scheduler_(scheduler),
        registry_(boards),
        board_connections_(connections),
        prober_(prober),
        on_change_(std::move(on_change)),
        log_(std::move(log)) {}
  // Forgets all boards. What is known of their leases is in the database.
  ~SshBoards();
  SshBoards(const SshBoards&) = delete;
  SshBoards& operator=(const SshBoards&) = delete;

  // The address at which the board is reached from now on; empty: it joins by itself.
  void set_address(BoardId board, const std::string& address);
  // Must be called each second.
  void tick();
  void probed(const ProbedBoard& probed);

  // The connections in whose name the scheduler knows the boards. Returns false if the action is for another one.
  bool handle(const Action& action);

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct SshBoard {
    std::string address;
    ConnectionNumber connection = 0;  // 0: it has not joined
    std::uint64_t boot_id = 0;
    wire::Heartbeat heartbeat;  // as it was when the board was heard last
    SteadyTime heard_at;
    std::optional<lease::Announcement> lease;
    unsigned failures = 0;  // how many of the last probes failed
    std::string why_not;    // so that each reason is logged once
    std::string forged;     // the same for reports about lock files
  };

  // Has the lock files with an epoch above this one removed.
  void remove_forged(BoardId id, SshBoard& board, const std::vector<LockFile>& locks, lease::Epoch above);
  // A lease has ended on the board. What its sessions have left there must not keep out the next one.
  void look_for_locks(BoardId id);

  void join(BoardId id, SshBoard& board, const ProbedBoard& probed);
  void leave(SshBoard& board);
  void beat(SshBoard& board, std::uint64_t probe);
  SshBoard* find(BoardConnection connection);
  std::optional<lease::LeaseKey> served_by(BoardId id, std::uint64_t boot_id) const;
  void say(BoardId id, SshBoard& board, const std::string& why);

  const ActiveScheduler& scheduler_;
  BoardRegistry& registry_;
  BoardConnections& board_connections_;
  BoardProber& prober_;
  std::function<void()> on_change_;
  Log log_;
  std::unordered_map<BoardId, SshBoard> boards_;
  std::unordered_map<ConnectionNumber, BoardId> connections_;
  ConnectionNumber last_ = std::uint64_t{1} << 63;  // no peer's number is as large
  SteadyTime beat_at_{};
};

}  // namespace ferry::farm
