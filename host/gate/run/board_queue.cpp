#include "host/gate/run/board_queue.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"

namespace ferry::gate {

namespace {

constexpr std::uint32_t kMostTries = 3;

// Whether another board might do what this one did not.
bool is_about_board(const Error& error) {
  switch (error.code()) {
    case ErrorCode::unavailable:
    case ErrorCode::busy:
    case ErrorCode::device_error:
    case ErrorCode::aborted:
    case ErrorCode::protocol_error:
    case ErrorCode::resource_exhausted:
    case ErrorCode::unauthenticated:
    case ErrorCode::version_mismatch:
    case ErrorCode::unsupported:
    case ErrorCode::not_found: return true;
    case ErrorCode::ok:
    case ErrorCode::invalid_argument:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::kernel_crashed:
    case ErrorCode::internal: return false;
  }
  return false;
}

}  // namespace

BoardQueue::BoardQueue(const Suite& suite, const std::vector<std::string>& boards, const std::set<std::string>& only) {
  for (const SuiteCase& suite_case : suite.cases) {
    if (!only.empty() && !only.contains(suite_case.name)) continue;
    for (const std::string& board : suite_case.boards.empty() ? boards : suite_case.boards) {
      waiting_.push_back({&suite_case, board, outcomes_.size()});
      CaseResult& result = outcomes_.emplace_back().result;
      result.name = suite_case.name;
      result.board = board;
      result.tolerance = suite_case.tolerance;
    }
  }
}

std::optional<BoardQueue::Item> BoardQueue::take(const std::string& board) {
  const std::lock_guard lock(mutex_);
  const auto item = std::ranges::find(waiting_, board, &Item::board);
  if (item == waiting_.end() || is_interrupted_ || failure_ != nullptr) return std::nullopt;
  Item taken = *item;
  waiting_.erase(item);
  return taken;
}

void BoardQueue::put_back(const Item& item) {
  const std::lock_guard lock(mutex_);
  waiting_.push_front(item);
}

void BoardQueue::work(const RunContext& context, const GateBoard& board, std::uint64_t seed, const Observer& observer) {
  stats::Random random(seed);
  OpenSession open;
  while (const std::optional<Item> item = take(board.name)) {
    if (observer.must_end()) {
      put_back(*item);
      const std::lock_guard lock(mutex_);
      is_interrupted_ = true;
      return;
    }
    std::uint32_t& tries = outcomes_[item->place].result.tries;
    try {
      if (!open) open = board.acquire();
      CaseOutcome outcome = run_case(context, *item->suite_case, open, random, observer);
      outcome.result.board = board.name;
      outcome.result.tries = tries;
      outcomes_[item->place] = std::move(outcome);
    } catch (const Error& error) {
      const std::lock_guard lock(mutex_);
      if (!is_about_board(error)) {
        failure_ = std::current_exception();
        return;
      }
      open = {};  // gives the board back
      outcomes_[item->place].result.reason = error.what();
      lost_[board.name] = error.what();
      if (tries == kMostTries) continue;
      ++tries;
      observer.tell(item->suite_case->name + ": " + printable_lines(error.what()) + "; trying again");
      waiting_.push_front(*item);
    }
  }
}

std::vector<CaseOutcome> BoardQueue::finish() {
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  for (const Item& item : waiting_) {
    CaseResult& result = outcomes_[item.place].result;
    result.verdict = is_interrupted_ ? Verdict::interrupted : Verdict::infrastructure;
    if (result.reason.empty()) result.reason = is_interrupted_ ? "the run was interrupted" : lost_[item.board];
  }
  return std::move(outcomes_);
}

}  // namespace ferry::gate
