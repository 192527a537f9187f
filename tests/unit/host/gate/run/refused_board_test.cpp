// Tests of boards that cannot be had as they are asked for.
#include <doctest/doctest.h>

#include "host/gate/run/open_board.h"
#include "host/gate/run/run_suite.h"
#include "tests/unit/host/gate/run/fake_boards.h"

using namespace ferry;
using namespace ferry::gate;
using namespace ferry::test;

TEST_CASE("a board that cannot be had is asked for once, and its cases were not measured") {
  const Suite suite = suite_of(10);
  const auto check = [&](const Report& report) {
    check_complete(suite, report);
    for (const CaseResult& result : report.cases) {
      CHECK(result.verdict == Verdict::infrastructure);
      CHECK(result.reason == "the farm has no such board");
      CHECK(result.tries <= 1);
    }
    CHECK(exit_code(report) == 3);
  };
  std::vector<std::string> told;
  Run run;
  run.store.is_read_only = true;  // as that of a farm is for a viewer
  run.observer.message = [&](const std::string& line) { told.push_back(line); };

  // Where the address is understood, as a key of a farm that cannot be read.
  const Boards unknown(1, [](std::size_t) { throw UsageError("the farm has no such board"); });
  check(run(suite, unknown));
  CHECK(unknown.acquired[0] == 1);
  CHECK(run.runs.count() == 0);
  CHECK(told == std::vector<std::string>{"rpi4 0: the farm has no such board"});

  // Where the board is asked for, as a selector that fits none.
  told.clear();
  const Boards refused(1);
  check(run_suite(
      {.suite = suite, .compiler = run.compiler, .store = run.store, .boards = refused.all},
      [&](const SuiteCase& suite_case, OpenBoard&, stats::Random&, const Observer&) -> CaseOutcome {
        run.runs.add(suite_case);
        throw BoardRefused("the farm has no such board");
      },
      run.observer));
  CHECK(run.runs.count() == 1);
  CHECK(told == std::vector<std::string>{"rpi4 0: the farm has no such board"});
}

TEST_CASE("the cases of a board that cannot be had go to others of its name") {
  const Suite suite = suite_of(6);
  Run run;
  const Report report = run(suite, Boards(2, [](std::size_t board) {
                              if (board == 0) throw UsageError("the farm has no such board");
                            }));
  check_complete(suite, report);
  for (const CaseResult& result : report.cases) CHECK(result.verdict == Verdict::no_change);
}

TEST_CASE("a board that refuses a session is told from a case that is mistaken") {
  const auto opening = [](ErrorCode code) {
    return OpenSession([code](const ConnectOptions&) -> Device { throw Error(code, "no"); });
  };
  OpenBoard refused(opening(ErrorCode::invalid_argument)), unknown(opening(ErrorCode::not_found)),
      gone(opening(ErrorCode::unavailable));
  CHECK_THROWS_AS(refused.facts({}), BoardRefused);
  CHECK_THROWS_AS(unknown.facts({}), BoardRefused);
  // The board may lack a device that one case alone needs.
  for (OpenBoard* board : {&unknown, &gone}) {
    try {
      board->facts({"cuda:3"});
      FAIL("expected an Error");
    } catch (const Error& error) {
      CHECK(dynamic_cast<const BoardRefused*>(&error) == nullptr);
    }
  }
}
