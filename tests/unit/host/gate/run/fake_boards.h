// Suites and boards on which no session is opened, to test how cases are shared.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/gate/run/run_suite.h"
#include "tests/unit/host/gate/run/fake_store.h"
#include "tests/unit/host/kernel/fake_compiler.h"

namespace ferry::test {

using namespace gate;

inline constexpr std::uint32_t kMostTries = 3;

inline Suite suite_of(std::size_t cases) {
  Suite suite;
  suite.name = "suite";
  for (std::size_t i = 0; i < cases; ++i) suite.cases.emplace_back().name = "case " + std::to_string(i);
  return suite;
}

[[noreturn]] inline void lose(ErrorCode code = ErrorCode::unavailable) { throw Error(code, "the board is gone"); }

inline CaseOutcome passed(const SuiteCase& suite_case) {
  CaseOutcome outcome;
  outcome.result.name = suite_case.name;
  outcome.result.verdict = Verdict::no_change;
  return outcome;
}

// Boards of one name, numbered from 0. No session is opened on them: a case knows its board by the last acquire() of
// its thread.
struct Boards {
  static inline thread_local std::size_t current = 0;
  std::vector<GateBoard> all;
  std::deque<std::atomic<int>> acquired;

  explicit Boards(std::size_t count, const std::function<void(std::size_t board)>& on_acquire = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      acquired.emplace_back(0);
      all.push_back({"rpi4", "rpi4 " + std::to_string(i), [this, i, on_acquire]() -> OpenSession {
                       ++acquired[i];
                       if (on_acquire) on_acquire(i);
                       current = i;
                       return [](const ConnectOptions&) -> Device { lose(); };
                     }});
    }
  }
};

// What was run where, in the order of the runs.
class Runs {
 public:
  void add(const SuiteCase& suite_case) {
    const std::lock_guard lock(mutex_);
    all_.push_back({suite_case.name, Boards::current});
  }
  std::vector<std::size_t> boards_of(const std::string& name) const {
    std::vector<std::size_t> boards;
    for (const auto& [run, board] : all_) {
      if (run == name) boards.push_back(board);
    }
    return boards;
  }
  std::size_t count() const { return all_.size(); }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::size_t>> all_;
};

struct Run {
  FakeCompiler compiler;
  FakeStore store;
  Runs runs;
  Observer observer;

  // Runs the suite. `ends` decides how a case ends, by throwing or otherwise.
  Report operator()(const Suite& suite, const Boards& boards,
                    const std::function<CaseOutcome(const SuiteCase&)>& ends = passed) {
    return run_suite(
        {.suite = suite, .compiler = compiler, .store = store, .boards = boards.all},
        [&](const SuiteCase& suite_case, OpenBoard&, stats::Random&, const Observer&) {
          runs.add(suite_case);
          return ends(suite_case);
        },
        observer);
  }
};

// Each case has one result, in the order of the suite.
inline void check_complete(const Suite& suite, const Report& report) {
  REQUIRE(report.cases.size() == suite.cases.size());
  for (std::size_t i = 0; i < suite.cases.size(); ++i) CHECK(report.cases[i].name == suite.cases[i].name);
}

}  // namespace ferry::test
