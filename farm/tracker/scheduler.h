// Runs the lease machine: tells it what happens and the time, commits its records, and passes its other actions on.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "farm/core/lease/lease_machine.h"
#include "farm/tracker/database.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class Scheduler {
 public:
  struct Callbacks {
    // Every action but Persist.
    std::function<void(const Action&)> carry_out;
    // Nothing can be committed any more. The scheduler does nothing from here on.
    std::function<void(const Status& why)> on_end;
  };

  // `start` is the time of the database's clock at this moment.
  Scheduler(server::EventLoop& loop, Database& database, const Snapshot& snapshot, TrackerTerm term,
            const Options& options, Time start, Callbacks callbacks);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Calls back, unless it was called by a callback: then what has happened is handled later.
  void handle(const Event& event);
  void on_committed(TrackerTerm term, const Result<CommitOutcome>& outcome);
  // Does nothing from here on. May be called by a callback.
  void stop();

  Time now() const;
  TrackerTerm term() const { return term_; }
  const LeaseMachine& machine() const { return machine_; }
  // How many requests have ended for each reason.
  const std::map<EndReason, std::uint64_t>& ended() const { return ended_; }
  // The longest time in seconds that a commit took in this minute or the last.
  double longest_commit() const { return std::max(commits_[0], commits_[1]); }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void persist(const Persist& commit);
  void watch_deadline();
  void end(const Status& why);

  Database& database_;
  const TrackerTerm term_;
  const Callbacks callbacks_;
  const Time start_;
  const SteadyTime steady_start_ = std::chrono::steady_clock::now();
  LeaseMachine machine_;
  server::Timer timer_;
  std::optional<Time> timer_at_;
  std::optional<SteadyTime> commit_since_;  // when the oldest commit without an outcome began
  std::array<double, 2> commits_{};         // the longest in this minute and in the last
  SteadyTime minute_ = steady_start_;
  std::map<EndReason, std::uint64_t> ended_;
  std::deque<Event> events_;  // those that have happened meanwhile
  bool is_handling_ = false;
  bool has_ended_ = false;
};

}  // namespace ferry::farm
