#include "farm/store/database_thread.h"

#include <utility>

#include "base/format.h"

namespace ferry::farm {

bool may_pass(const Status& failure) {
  return failure.code() == ErrorCode::resource_exhausted || failure.code() == ErrorCode::busy ||
         failure.code() == ErrorCode::unavailable;
}

DatabaseThread::DatabaseThread(std::unique_ptr<Store> store, OnOutcome on_outcome,
                               std::chrono::milliseconds retry_delay)
    : store_(std::move(store)),
      on_outcome_(std::move(on_outcome)),
      retry_delay_(retry_delay),
      thread_([this] { loop(); }) {}

DatabaseThread::~DatabaseThread() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Status DatabaseThread::commit(Persist commit) {
  {
    const std::lock_guard lock(mutex_);
    FERRY_TRY(final_failure_);
    if (waiting_.size() + group_.size() >= kMaxCommits)
      return {ErrorCode::busy, format("%zu commits wait for the database already", kMaxCommits)};
    waiting_.push_back(std::move(commit));
  }
  wake_.notify_one();
  return {};
}

Status DatabaseThread::run(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= kMaxJobs)
      return {ErrorCode::busy, format("%zu queries wait for the database already", kMaxJobs)};
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
  return {};
}

std::size_t DatabaseThread::backlog() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + group_.size();
}

bool DatabaseThread::must_commit() const {
  if (group_.empty()) return !waiting_.empty();
  return is_stopping_ || std::chrono::steady_clock::now() >= retry_at_;
}

void DatabaseThread::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto has_work = [this] { return must_commit() || !jobs_.empty() || is_stopping_; };
    if (group_.empty()) {
      wake_.wait(lock, has_work);
    } else {
      wake_.wait_until(lock, retry_at_, has_work);
    }
    if (must_commit()) commit_group(lock);
    if (!jobs_.empty()) run_job(lock);
    if (is_stopping_ && group_.empty() && waiting_.empty() && jobs_.empty()) return;
  }
}

void DatabaseThread::commit_group(std::unique_lock<std::mutex>& lock) {
  const TrackerTerm term = group_.empty() ? waiting_.front().term : group_.front().term;
  for (; !waiting_.empty() && waiting_.front().term == term; waiting_.pop_front())
    group_.push_back(std::move(waiting_.front()));
  lock.unlock();
  const Result<CommitOutcome> outcome = store_->apply(group_);
  on_outcome_(term, outcome);
  lock.lock();
  if (!outcome.is_ok() && may_pass(outcome.status()) && !is_stopping_) {
    retry_at_ = std::chrono::steady_clock::now() + retry_delay_;
    return;
  }
  group_.clear();
  if (outcome.is_ok()) return;
  waiting_.clear();
  final_failure_ = outcome.status();
}

void DatabaseThread::run_job(std::unique_lock<std::mutex>& lock) {
  const Job job = std::move(jobs_.front());
  jobs_.pop_front();
  lock.unlock();
  job(*store_);
  lock.lock();
}

}  // namespace ferry::farm
