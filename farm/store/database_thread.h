// Runs everything that is done with a store on a thread of its own, so that the tracker's loop never waits for a disk.
// All commits that wait while a transaction runs share the next one, and with it the wait for the disk.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "farm/store/store.h"

namespace ferry::farm {

// Whether the same may succeed later (store.h).
bool may_pass(const Status& failure);

class DatabaseThread {
 public:
  static constexpr std::size_t kMaxCommits = 16'384;
  static constexpr std::size_t kMaxJobs = 256;

  // Called on the database's thread with the outcome of each transaction. After a failure that may pass (store.h), the
  // thread keeps the commits and tries again after the delay; after any other one it commits nothing more.
  using OnOutcome = std::function<void(TrackerTerm term, const Result<CommitOutcome>& outcome)>;
  using Job = std::function<void(Store& store)>;

  DatabaseThread(std::unique_ptr<Store> store, OnOutcome on_outcome,
                 std::chrono::milliseconds retry_delay = std::chrono::seconds(1));
  // Commits what was accepted and runs the jobs. Commits that fail now are reported and lost.
  ~DatabaseThread();
  DatabaseThread(const DatabaseThread&) = delete;
  DatabaseThread& operator=(const DatabaseThread&) = delete;

  // Both may be called on any thread. They fail with busy if too many wait.
  // Commits are written in the order in which they are posted. Fails with the reason why nothing more is committed.
  Status commit(Persist commit);
  // Runs the job between two transactions. Jobs must be short: commits wait for them.
  Status run(Job job);
  // How many commits wait or are being written. Any thread.
  std::size_t backlog() const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void loop();
  bool must_commit() const;
  void commit_group(std::unique_lock<std::mutex>& lock);
  void run_job(std::unique_lock<std::mutex>& lock);

  const std::unique_ptr<Store> store_;
  const OnOutcome on_outcome_;
  const std::chrono::milliseconds retry_delay_;

  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable wake_;
  std::deque<Persist> waiting_;
  std::vector<Persist> group_;  // the transaction that runs, or that is to be tried again
  SteadyTime retry_at_{};
  std::deque<Job> jobs_;
  Status final_failure_;
  bool is_stopping_ = false;

  std::thread thread_;
};

}  // namespace ferry::farm
