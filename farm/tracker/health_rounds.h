// Has the boards checked: those that have joined, those that somebody suspects, and those that nobody has used for
// long. A check leases its board like anybody else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "farm/client/relay.h"
#include "farm/store/board_logs.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/database.h"
#include "farm/tracker/key_directory.h"
#include "farm/tracker/log.h"

namespace ferry::farm {

// The findings of a check.
struct CheckedBoard {
  enum class Result : std::uint8_t {
    passed,
    failed,
    again,    // once the board has cooled
    unknown,  // the check says nothing about the board
  };
  BoardId board{};
  Result result = Result::unknown;
  std::string reason;  // given for everything but passed
  std::optional<std::int32_t> millidegrees;
  std::vector<HealthEntry> entries;
  std::optional<HealthState> state;
};

// Does the checks. All functions are called on the tracker's loop, on which it says what it has found, to
// Tracker::checked().
class HealthChecker {
 public:
  virtual ~HealthChecker() = default;
  // Takes over what earlier trackers have learned. Called before anything else.
  virtual void load(const std::vector<HealthState>& states) = 0;
  // The key and the epoch are those of the check's lease; boards that are reached by ssh need only the latter. `relay`
  // is the way to a board that cannot be reached at its address.
  virtual Status start(BoardId board, const std::string& address, const secure::Key& psk, lease::Epoch epoch,
                       const RelayRoute& relay) = 0;
  virtual void cancel(BoardId board) = 0;
};

class HealthRounds {
 public:
  // All but the last three must outlive this object. `tracker` is this tracker's own address. `idle`: for how long
  // nobody has used a board that is checked again.
  HealthRounds(const ActiveScheduler& scheduler, const BoardRegistry& boards, KeyDirectory& keys, Database& database,
               HealthChecker& checker, const TcpAddress& tracker, std::chrono::milliseconds idle, Log log);

  void set_idle(std::chrono::milliseconds idle) { idle_ = idle; }
  // Must be called each second.
  void tick();
  void checked(const CheckedBoard& checked);

  // Carries out an action for the requests of checks. Returns false if the action is for those of somebody else.
  bool handle(const Action& action);

 private:
  using Clock = std::chrono::steady_clock;
  struct Round {
    LeaseId request{};  // 0: none
    bool is_running = false;
    Clock::time_point not_before{};  // another check
    std::chrono::milliseconds pause{0};
    Clock::time_point used_at = Clock::now();  // by somebody, or checked
  };

  void submit(Round& round, const BoardView& board);
  void granted(const TellGranted& action);
  void ended(LeaseId lease);
  void wait_longer(Round& round);
  std::pair<const BoardId, Round>* find(LeaseId request);

  const ActiveScheduler& scheduler_;
  const BoardRegistry& boards_;
  Database& database_;
  const KeyDirectory& keys_;
  HealthChecker& checker_;
  FarmAccess access_;  // for relays
  std::chrono::milliseconds idle_;
  Log log_;
  std::unordered_map<BoardId, Round> rounds_;
};

}  // namespace ferry::farm
