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
    case ErrorCode::deadline_exceeded:  // a connection's or session's: a kernel alone that takes too long has a
                                        // verdict
    case ErrorCode::unsupported: return true;
    case ErrorCode::ok:
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::kernel_crashed:
    case ErrorCode::internal: return false;
  }
  return false;
}

// Whether the board itself is gone, and not only unable to run one case.
bool is_lost(const Error& error) {
  const ErrorCode code = error.code();
  return code == ErrorCode::unavailable || code == ErrorCode::busy || code == ErrorCode::unauthenticated ||
         code == ErrorCode::deadline_exceeded || code == ErrorCode::aborted || code == ErrorCode::protocol_error ||
         code == ErrorCode::version_mismatch;
}

OpenSession acquire(const GateBoard& board) {
  try {
    return board.acquire();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::not_found) throw;
    throw BoardRefused(error.what());
  }
}

}  // namespace

BoardQueue::BoardQueue(const Suite& suite, const std::vector<GateBoard>& boards, const std::vector<std::string>& names,
                       const std::set<std::string>& only) {
  for (const GateBoard& board : boards) ++working_[board.name];
  for (const SuiteCase& suite_case : suite.cases) {
    if (!only.empty() && !only.contains(suite_case.name)) continue;
    for (const std::string& board : suite_case.boards.empty() ? names : suite_case.boards) {
      waiting_.push_back({&suite_case, board, outcomes_.size(), 0, nullptr});
      CaseResult& result = outcomes_.emplace_back().result;
      result.name = suite_case.name;
      result.board = board;
      result.tolerance = suite_case.tolerance;
      result.tries = 0;
    }
  }
}

std::optional<BoardQueue::Item> BoardQueue::take(const GateBoard& board) {
  std::unique_lock lock(mutex_);
  auto item = waiting_.end();
  changed_.wait(lock, [&] {
    const bool is_alone = working_[board.name] == 1;
    bool is_empty = true;
    item = std::ranges::find_if(waiting_, [&](const Item& one) {
      if (one.board != board.name) return false;
      is_empty = false;
      return is_alone || one.lost_by != &board;
    });
    const bool is_over = is_empty && running_[board.name] == 0;
    return item != waiting_.end() || is_over || is_interrupted_ || failure_ != nullptr;
  });
  if (item == waiting_.end() || is_interrupted_ || failure_ != nullptr) return std::nullopt;
  Item taken = *item;
  waiting_.erase(item);
  ++running_[board.name];
  return taken;
}

void BoardQueue::end(const Item& item, const std::function<void()>& change) {
  {
    const std::lock_guard lock(mutex_);
    --running_[item.board];
    change();
  }
  changed_.notify_all();
}

void BoardQueue::work(const RunCase& run_case, const GateBoard& board, std::uint64_t seed, const Observer& observer) {
  std::exception_ptr failure;
  try {
    run_cases(run_case, board, seed, observer);
  } catch (...) {
    failure = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    --working_[board.name];
    if (failure != nullptr) failure_ = failure;
  }
  changed_.notify_all();
}

void BoardQueue::run_cases(const RunCase& run_case, const GateBoard& board, std::uint64_t seed,
                           const Observer& observer) {
  stats::Random random(seed);
  std::optional<OpenBoard> open;
  std::uint32_t lost_in_a_row = 0;
  while (const std::optional<Item> item = take(board)) {
    if (observer.must_end()) {
      return end(*item, [&] {
        waiting_.push_front(*item);
        is_interrupted_ = true;
      });
    }
    // Nobody else has this item now.
    CaseOutcome& place = outcomes_[item->place];
    const std::uint32_t tries = place.result.tries = item->tries + 1;
    try {
      if (!open) open.emplace(acquire(board), board.is_here);
      CaseOutcome outcome = run_case(*item->suite_case, *open, random, observer);
      outcome.result.board = board.label;
      outcome.result.tries = tries;
      place = std::move(outcome);
      lost_in_a_row = 0;
      end(*item, [] {});
    } catch (const Error& error) {
      if (dynamic_cast<const StoreFailed*>(&error) != nullptr) {
        return end(*item, [&] { failure_ = std::current_exception(); });
      }
      if (!is_about_board(error)) {
        place.result.verdict = Verdict::failed;
        place.result.reason = error.what();
        end(*item, [] {});
        continue;
      }
      open.reset();  // gives the board back
      place.result.board = board.label;
      place.result.reason = error.what();
      if (is_lost(error)) ++lost_in_a_row;
      const bool is_refused = dynamic_cast<const BoardRefused*>(&error) != nullptr;
      const bool gives_up = is_refused || lost_in_a_row == kMostTries;
      observer.tell((is_refused ? board.label : item->suite_case->name) + ": " + printable_lines(error.what()) +
                    (gives_up && !is_refused ? "; giving up on " + board.label : ""));
      end(*item, [&] {
        lost_[board.name] = error.what();
        if (tries == kMostTries) return;
        waiting_.push_back(*item);
        waiting_.back().tries = tries;
        waiting_.back().lost_by = &board;
      });
      if (gives_up) return;
    } catch (const std::exception& error) {
      place.result.verdict = Verdict::failed;
      place.result.reason = error.what();
      end(*item, [] {});
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
