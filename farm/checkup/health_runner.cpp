#include "farm/checkup/health_runner.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace ferry::farm {

HealthRunner::HealthRunner(const Compiler& compiler, HealthOptions options, OnOutcome on_outcome,
                           std::size_t checks_at_once)
    : modules_(compiler), options_(std::move(options)), on_outcome_(std::move(on_outcome)) {
  for (std::size_t i = 0; i < checks_at_once; ++i) workers_.emplace_back([this] { work(); });
  watch_ = std::thread([this] { watch_deadlines(); });
}

HealthRunner::~HealthRunner() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    waiting_.clear();
    for (const auto& [board, check] : checks_) check->control.end_with(CheckEnd::cancelled);
  }
  wake_workers_.notify_all();
  for (std::thread& worker : workers_) worker.join();
  wake_watch_.notify_all();
  watch_.join();
}

Status HealthRunner::start(HealthJob job) {
  const auto check = std::make_shared<Check>();
  check->job = std::move(job);
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return {ErrorCode::unavailable, "health checks are being stopped"};
    if (waiting_.size() >= kMaxWaiting)
      return {ErrorCode::busy, format("expected at most %zu waiting health checks, got one more", kMaxWaiting)};
    if (!checks_.emplace(check->job.board, check).second)
      return {ErrorCode::busy, "a health check of this board is under way"};
    waiting_.push_back(check);
  }
  wake_workers_.notify_one();
  return {};
}

void HealthRunner::cancel(BoardId board) {
  const std::lock_guard lock(mutex_);
  if (const auto found = checks_.find(board); found != checks_.end())
    found->second->control.end_with(CheckEnd::cancelled);
}

std::size_t HealthRunner::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

void HealthRunner::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_workers_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    run_next(lock);
  }
}

void HealthRunner::run_next(std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<Check> check = waiting_.front();
  waiting_.pop_front();
  check->deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(
                                                           std::chrono::duration<double>(options_.limit_s));
  ++running_;
  lock.unlock();
  wake_watch_.notify_all();
  HealthOutcome outcome = check_health(check->job, modules_, options_, check->control);
  lock.lock();
  --running_;
  checks_.erase(check->job.board);
  lock.unlock();
  on_outcome_(std::move(outcome));
  lock.lock();
}

void HealthRunner::watch_deadlines() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_ || running_ > 0) {
    const SteadyTime now = std::chrono::steady_clock::now();
    SteadyTime next = SteadyTime::max();
    for (const auto& [board, check] : checks_) {
      if (check->deadline <= now) {
        check->control.end_with(CheckEnd::timed_out);
      } else {
        next = std::min(next, check->deadline);
      }
    }
    if (next == SteadyTime::max()) {
      wake_watch_.wait(lock);
    } else {
      wake_watch_.wait_until(lock, next);
    }
  }
}

}  // namespace ferry::farm
