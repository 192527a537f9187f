// Runs health checks on threads of its own: one at a time for each board, and a limited number at once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "farm/checkup/health_check.h"

namespace ferry::farm {

class HealthRunner {
 public:
  static constexpr std::size_t kMaxWaiting = 16384;

  // Called on a thread of the runner. It may call start(), for this board too.
  using OnOutcome = std::function<void(HealthOutcome outcome)>;

  // The compiler must outlive the runner.
  HealthRunner(const Compiler& compiler, HealthOptions options, OnOutcome on_outcome, std::size_t checks_at_once = 4);
  // Cancels the checks that run, and forgets those that wait.
  ~HealthRunner();
  HealthRunner(const HealthRunner&) = delete;
  HealthRunner& operator=(const HealthRunner&) = delete;

  // All may be called on any thread. Each check that is started has an outcome, within options.limit_s of when it runs.
  // Fails with busy if a check of the board waits or runs, or if too many wait.
  Status start(HealthJob job);
  // Its outcome is `cancelled`, unless it was about to come already.
  void cancel(BoardId board);
  std::size_t running() const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct Check {
    HealthJob job;
    CheckControl control;
    SteadyTime deadline = SteadyTime::max();  // once it runs
  };

  void work();
  void watch_deadlines();
  void run_next(std::unique_lock<std::mutex>& lock);

  ReferenceModules modules_;
  const HealthOptions options_;
  const OnOutcome on_outcome_;

  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable wake_workers_, wake_watch_;
  std::deque<std::shared_ptr<Check>> waiting_;
  std::map<BoardId, std::shared_ptr<Check>> checks_;  // those that wait or run
  std::size_t running_ = 0;
  bool is_stopping_ = false;

  std::vector<std::thread> workers_;
  std::thread watch_;
};

}  // namespace ferry::farm
