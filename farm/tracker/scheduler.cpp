#include "farm/tracker/scheduler.h"

#include <algorithm>
#include <utility>

namespace ferry::farm {

Scheduler::Scheduler(server::EventLoop& loop, Database& database, const Snapshot& snapshot, TrackerTerm term,
                     const Options& options, Time start, Callbacks callbacks)
    : database_(database),
      term_(term),
      callbacks_(std::move(callbacks)),
      start_(start),
      machine_(snapshot, term, options, start),
      timer_(loop) {
  watch_deadline();
}

Time Scheduler::now() const {
  return start_ + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - steady_start_);
}

void Scheduler::handle(const Event& event) {
  // An action may make something happen, such as that a connection ends. That has to wait, because the
  // actions, commits above all, must be carried out in order.
  events_.push_back(event);
  if (std::exchange(is_handling_, true)) return;
  while (!events_.empty() && !has_ended_) {
    const Event next = std::move(events_.front());
    events_.pop_front();
    for (const Action& action : machine_.handle(next, now())) {
      if (has_ended_) break;
      if (const auto* commit = std::get_if<Persist>(&action)) {
        persist(*commit);
      } else {
        callbacks_.carry_out(action);
      }
    }
  }
  is_handling_ = false;
  if (!has_ended_) watch_deadline();
}

void Scheduler::persist(const Persist& commit) {
  for (const Record& record : commit.records)
    if (const auto* ended = std::get_if<EndRecord>(&record)) ++ended_[ended->reason];
  if (!commit_since_) commit_since_ = std::chrono::steady_clock::now();
  const Status accepted = database_.commit(commit);
  if (!accepted.is_ok()) end(accepted);
}

void Scheduler::on_committed(TrackerTerm term, const Result<CommitOutcome>& outcome) {
  if (has_ended_ || term != term_) return;
  if (!outcome.is_ok()) {
    // The database's thread tries the others again.
    if (!may_pass(outcome.status())) end(outcome.status());
    return;
  }
  if (commit_since_) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> waited = now - *std::exchange(commit_since_, {});
    if (now - minute_ > std::chrono::minutes(1)) {
      minute_ = now;
      commits_ = {0, commits_[0]};
    }
    commits_[0] = std::max(commits_[0], waited.count());
  }
  if (const auto* persisted = std::get_if<Persisted>(&outcome.value())) return handle(*persisted);
  end({ErrorCode::aborted, "another tracker schedules now"});
}

void Scheduler::watch_deadline() {
  const auto deadline = machine_.next_deadline();
  if (deadline == timer_at_) return;
  timer_at_ = deadline;
  if (!deadline) return timer_.cancel();
  timer_.start(std::max(Duration(0), *deadline - now()), [this] {
    timer_at_.reset();
    handle(Tick{});
  });
}

void Scheduler::stop() {
  if (std::exchange(has_ended_, true)) return;
  timer_.cancel();
  machine_.handle(TermLost{}, now());
}

void Scheduler::end(const Status& why) {
  stop();
  callbacks_.on_end(why);
}

}  // namespace ferry::farm
