// Tells the world of what happens in a farm: runs an admin's commands and posts to webhooks, on threads of its own. The
// jobs of one board run one after the other, in the order in which they were posted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "farm/hooks/webhook.h"

namespace ferry::farm {

// Whom to tell of a board's new state.
struct NotifyHooks {
  std::vector<std::string> command;  // {board} and {state} are replaced; none: no command
  std::optional<WebhookUrl> webhook;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

struct PowerHook {
  std::vector<std::string> command;  // {board} is replaced; none: the board cannot be switched
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
};

// Commands find all of it in FERRY_FARM_BOARD, FERRY_FARM_STATE, FERRY_FARM_PREVIOUS, FERRY_FARM_REASON and
// FERRY_FARM_TIME; of a webhook's JSON they are the fields board, state, previous, reason and at_ms, and "text" is a
// sentence.
struct BoardNotice {
  std::string board;
  std::string state;       // "suspect"
  std::string previous;    // "good"
  std::string reason;      // for people, and not trusted: it is made printable and cut
  std::int64_t at_ms = 0;  // since 1970
};

class HookRunner {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;
  static constexpr std::size_t kMaxReasonBytes = 1024;

  using Log = std::function<void(const std::string& line)>;
  using OnPowered = std::function<void(const Status& status)>;

  // `log` is called on the runner's threads with what commands print and what goes wrong.
  explicit HookRunner(Log log, std::size_t at_once = 4);
  // Waits for what runs, which its timeout bounds, and forgets what waits.
  ~HookRunner();
  HookRunner(const HookRunner&) = delete;
  HookRunner& operator=(const HookRunner&) = delete;

  // None of these waits. They fail with invalid_argument for a name that no board can have, and with busy if too much
  // waits.
  Status notify(const NotifyHooks& hooks, const BoardNotice& notice);
  // Calls on_done on a thread of the runner once the command has ended.
  Status power_cycle(const PowerHook& hook, const std::string& board, const std::string& reason, OnPowered on_done);

 private:
  struct Job {
    std::string board;
    std::function<void()> run;
  };

  Status post(std::string board, std::function<void()> run);
  void work();
  std::deque<Job>::iterator next_job();

  const Log log_;
  std::mutex mutex_;  // guards all that follows
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  std::set<std::string> active_;  // boards of jobs that run
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ferry::farm
