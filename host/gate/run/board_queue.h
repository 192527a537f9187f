// The cases of a suite that are still to be run, for the boards that take them one after the other.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "host/gate/run/case_run.h"
#include "host/gate/run/run_suite.h"

namespace ferry::gate {

// Thread-safe, except finish().
class BoardQueue {
 public:
  // `names` are those of the boards, which all call work() and outlive this object. `only` has the names of the cases
  // to run; empty: all.
  BoardQueue(const Suite& suite, const std::vector<GateBoard>& boards, const std::vector<std::string>& names,
             const std::set<std::string>& only);

  // Runs cases on the board until none is left, the board was lost several times in a row, or the run is interrupted. A
  // case whose board was lost waits for another one of the same name, if there is any.
  void work(const RunCase& run_case, const GateBoard& board, std::uint64_t seed, const Observer& observer);

  // Returns the outcomes in the order of the suite, once all boards have returned. Cases that no board took have the
  // verdict `infrastructure`, or `interrupted`. Throws what was thrown on a board's thread and is not about the board.
  std::vector<CaseOutcome> finish();

 private:
  struct Item {
    const SuiteCase* suite_case = nullptr;
    std::string board;
    std::size_t place = 0;  // in outcomes_
    std::uint32_t tries = 0;
    const GateBoard* lost_by = nullptr;
  };

  void run_cases(const RunCase& run_case, const GateBoard& board, std::uint64_t seed, const Observer& observer);
  // Waits while other boards of this name run cases, since these may come back. Returns nothing once there is none
  // left.
  std::optional<Item> take(const GateBoard& board);
  // Ends what take() has begun, and makes the change under the lock.
  void end(const Item& item, const std::function<void()>& change);

  std::mutex mutex_;
  std::condition_variable changed_;
  // By names of boards.
  std::map<std::string, std::size_t> working_;  // boards that have not returned
  std::map<std::string, std::size_t> running_;  // cases that they are busy with
  std::deque<Item> waiting_;
  std::vector<CaseOutcome> outcomes_;
  std::map<std::string, std::string> lost_;  // why the last board of a name was lost
  bool is_interrupted_ = false;
  std::exception_ptr failure_;
};

}  // namespace ferry::gate
