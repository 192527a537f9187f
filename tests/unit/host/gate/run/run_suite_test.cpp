// Tests of how the cases of a suite are shared by boards that are lost, come back and are interrupted.
#include "host/gate/run/run_suite.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/unit/host/gate/run/fake_boards.h"

using namespace ferry;
using namespace ferry::gate;
using namespace ferry::test;

TEST_CASE("every case runs once and is reported once, however many boards share them") {
  for (const std::size_t boards : {1u, 2u, 7u}) {
    for (const std::size_t cases : {0u, 1u, 23u}) {
      CAPTURE(boards);
      CAPTURE(cases);
      const Suite suite = suite_of(cases);
      Run run;
      const Report report = run(suite, Boards(boards), [](const SuiteCase& suite_case) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return passed(suite_case);
      });
      check_complete(suite, report);
      for (const CaseResult& result : report.cases) {
        CHECK(result.verdict == Verdict::no_change);
        CHECK(result.tries == 1);
        CHECK(run.runs.boards_of(result.name).size() == 1);
      }
      CHECK(exit_code(report) == 0);
    }
  }
}

TEST_CASE("a case whose board is lost goes to another board") {
  for (const std::size_t boards : {2u, 7u}) {
    CAPTURE(boards);
    const Suite suite = suite_of(9);
    Run run;
    const Report report = run(suite, Boards(boards), [](const SuiteCase& suite_case) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      if (Boards::current == 0) lose();
      return passed(suite_case);
    });
    check_complete(suite, report);
    for (const CaseResult& result : report.cases) {
      CAPTURE(result.name);
      const std::vector<std::size_t> at = run.runs.boards_of(result.name);
      CHECK(result.verdict == Verdict::no_change);
      CHECK(result.board != "rpi4 0");
      CHECK(result.tries == at.size());
      // Never twice in a row on the lost one, as long as there are others.
      for (std::size_t i = 1; i < at.size(); ++i) CHECK((at[i - 1] != 0 || at[i] != 0));
    }
  }
}

TEST_CASE("a board that comes back is taken again") {
  const Suite suite = suite_of(5);
  const Boards boards(1);
  Run run;
  int losses = 2;
  const Report report = run(suite, boards, [&](const SuiteCase& suite_case) {
    if (losses > 0) {
      --losses;
      lose();
    }
    return passed(suite_case);
  });
  check_complete(suite, report);
  std::uint32_t tries = 0;
  for (const CaseResult& result : report.cases) {
    CHECK(result.verdict == Verdict::no_change);
    tries += result.tries;
  }
  CHECK(tries == 5 + 2);
  CHECK(boards.acquired[0] == 3);
}

TEST_CASE("a board that is lost thrice in a row is given up, and cases that no board could run say why") {
  for (const std::size_t boards : {1u, 2u, 7u}) {
    CAPTURE(boards);
    const Suite suite = suite_of(5);
    Run run;
    const Boards all(boards, [](std::size_t) { lose(ErrorCode::busy); });
    const Report report = run(suite, all);
    check_complete(suite, report);
    std::uint32_t tries = 0, acquisitions = 0;
    for (const CaseResult& result : report.cases) {
      tries += result.tries;
      CHECK(result.verdict == Verdict::infrastructure);
      CHECK(result.reason == "the board is gone");
      CHECK(result.tries <= kMostTries);
    }
    CHECK(run.runs.count() == 0);
    for (const auto& acquired : all.acquired) {
      CHECK(acquired <= static_cast<int>(kMostTries));
      acquisitions += static_cast<std::uint32_t>(acquired);
    }
    CHECK(tries == acquisitions);
    CHECK(exit_code(report) == 3);
  }
}

TEST_CASE("a case that no board can run is given up after three tries, and the others run") {
  for (const std::size_t boards : {1u, 2u, 7u}) {
    CAPTURE(boards);
    const Suite suite = suite_of(6);
    Run run;
    const Report report = run(suite, Boards(boards), [](const SuiteCase& suite_case) {
      if (suite_case.name == "case 2") lose(ErrorCode::device_error);
      return passed(suite_case);
    });
    check_complete(suite, report);
    for (const CaseResult& result : report.cases) {
      const bool is_it = result.name == "case 2";
      CHECK(result.verdict == (is_it ? Verdict::infrastructure : Verdict::no_change));
      CHECK(result.tries == (is_it ? kMostTries : 1));
      CHECK(run.runs.boards_of(result.name).size() == result.tries);
    }
  }
}

TEST_CASE("a connection that is too slow is lost, and an error of ferry's own is not") {
  const Suite suite = suite_of(1);
  Run slow;
  const Report late =
      slow(suite, Boards(1), [](const SuiteCase&) -> CaseOutcome { lose(ErrorCode::deadline_exceeded); });
  CHECK(late.cases.at(0).verdict == Verdict::infrastructure);
  CHECK(late.cases.at(0).tries == kMostTries);
  Run broken;
  const Report bug = broken(suite, Boards(1), [](const SuiteCase&) -> CaseOutcome { lose(ErrorCode::internal); });
  CHECK(bug.cases.at(0).verdict == Verdict::failed);
  CHECK(broken.runs.count() == 1);
}

TEST_CASE("a case that was renamed gets a baseline under its own name with an update, also if it did not change") {
  Suite suite = suite_of(2);
  for (const bool is_update : {false, true}) {
    CAPTURE(is_update);
    Run run;
    const Boards boards(1);
    const Report report = run_suite(
        {.suite = suite, .compiler = run.compiler, .store = run.store, .update = is_update, .boards = boards.all},
        [&](const SuiteCase& suite_case, OpenBoard&, stats::Random&, const Observer&) {
          CaseOutcome outcome = passed(suite_case);
          outcome.result.verdict = Verdict::unchanged;
          outcome.target = "x86_64";
          outcome.module = StoredModule{};
          outcome.is_renamed = suite_case.name == "case 1";
          return outcome;
        },
        run.observer);
    CHECK(report.cases[0].new_baseline == NewBaseline::none);
    CHECK(report.cases[1].new_baseline == (is_update ? NewBaseline::updated : NewBaseline::none));
    CHECK(run.store.modules.size() == (is_update ? 1 : 0));
  }
}

TEST_CASE("an interrupted run says which cases it has not finished") {
  for (const std::size_t boards : {1u, 2u, 7u}) {
    CAPTURE(boards);
    const Suite suite = suite_of(40);
    Run run;
    std::atomic<int> done = 0;
    run.observer.is_interrupted = [&] { return done >= 9; };
    const Report report = run(suite, Boards(boards), [&](const SuiteCase& suite_case) {
      ++done;
      return passed(suite_case);
    });
    check_complete(suite, report);
    CHECK(report.is_interrupted);
    std::size_t finished = 0;
    for (const CaseResult& result : report.cases) {
      const bool has_run = !run.runs.boards_of(result.name).empty();
      finished += has_run ? 1 : 0;
      CHECK(result.verdict == (has_run ? Verdict::no_change : Verdict::interrupted));
      CHECK(result.tries == (has_run ? 1 : 0));
    }
    CHECK(finished >= 9);
    CHECK(finished <= 9 + boards);
  }
}

TEST_CASE("cases of several names of boards run on a board of each name") {
  const Suite suite = suite_of(4);
  Boards boards(2);
  boards.all[1].name = "riscv";
  Run run;
  const Report report = run(suite, boards);
  REQUIRE(report.cases.size() == 8);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    CHECK(report.cases[2 * i].board == "rpi4 0");
    CHECK(report.cases[2 * i + 1].board == "rpi4 1");
    CHECK(run.runs.boards_of(suite.cases[i].name).size() == 2);
  }
}

TEST_CASE("a store that fails ends the run") {
  for (const std::size_t boards : {1u, 2u, 7u}) {
    CAPTURE(boards);
    const Suite suite = suite_of(20);
    Run run;
    const auto fails = [](const SuiteCase& suite_case) {
      if (suite_case.name == "case 3") throw StoreFailed("the disk is full");
      return passed(suite_case);
    };
    CHECK_THROWS_AS(run(suite, Boards(boards), fails), StoreFailed);
  }
}

TEST_CASE("a baseline that is new but similar to another one is refused, unless the run is to store it") {
  const Suite suite = suite_of(1);
  const Boards boards(1);
  Run run;
  run.store.names = {"main", "release"};
  SuiteRequest request{
      .suite = suite, .compiler = run.compiler, .store = run.store, .baseline = "mian", .boards = boards.all};
  CHECK_THROWS_WITH_AS(run_suite(request, {}),
                       "--baseline: the suite has no baseline 'mian'; did you mean 'main'? --update stores a new one "
                       "of this name",
                       UsageError);
  CHECK(boards.acquired[0] == 0);
  request.update = true;
  CHECK(run_suite(request, {}).cases.size() == 1);
  request.update = false;
  request.baseline = "experiment";
  CHECK(run_suite(request, {}).other_baselines == run.store.names);
  request.baseline = "mian";
  run.store.names = {"mian"};  // one without cases of its own
  CHECK(run_suite(request, {}).other_baselines.empty());
}

TEST_CASE("the observer is called on one thread at a time") {
  const Suite suite = suite_of(30);
  Run run;
  std::atomic<int> inside = 0, overlaps = 0, calls = 0;
  const auto use = [&] {
    ++calls;
    if (++inside > 1) ++overlaps;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    --inside;
  };
  run.observer.message = [&](const std::string&) { use(); };
  run.observer.is_interrupted = [&] {
    use();
    return false;
  };
  run.observer.compilation = [&](const std::string&) {
    use();
    return StepGuard(&inside, [&](void*) { use(); });
  };
  const Boards boards(7);
  const Report report = run_suite(
      {.suite = suite, .compiler = run.compiler, .store = run.store, .boards = boards.all},
      [&](const SuiteCase& suite_case, OpenBoard&, stats::Random&, const Observer& observer) {
        observer.tell("a note");
        const StepGuard compiling = observer.begin_compilation("kernel.c");
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        return passed(suite_case);
      },
      run.observer);
  check_complete(suite, report);
  CHECK(calls >= 4 * 30);
  CHECK(overlaps == 0);
}

TEST_CASE("cases of the baseline that the suite lacks are reported, whatever was to run, and an update deletes them") {
  const Suite suite = suite_of(2);
  const Boards boards(1);
  test::FakeCompiler compiler;
  test::FakeStore store;
  for (const char* name : {"case 0", "case 1", "gone", "renamed"}) {
    store.modules[{name, "x86_64"}] = {};
    store.modules[{name, "aarch64"}] = {};
  }
  const auto run = [&](bool update, MissingPolicy missing, std::set<std::string> cases = {}) {
    return run_suite(
        {.suite = suite,
         .compiler = compiler,
         .store = store,
         .update = update,
         .cases = std::move(cases),
         .boards = boards.all,
         .missing = missing},
        [](const SuiteCase& suite_case, OpenBoard&, stats::Random&, const Observer&) { return passed(suite_case); },
        {});
  };
  const std::vector<std::string> gone = {"gone", "renamed"};
  CHECK(run(false, MissingPolicy::allow).missing == gone);
  CHECK(exit_code(run(false, MissingPolicy::allow)) == 0);
  CHECK(run(false, MissingPolicy::allow, {"case 1"}).missing == gone);
  // An update changes nothing in a run that is not green.
  const Report failed = run(true, MissingPolicy::fail);
  CHECK(exit_code(failed) == 2);
  CHECK(failed.forgotten == 0);
  CHECK(store.modules.size() == 8);
  const Report updated = run(true, MissingPolicy::allow);
  CHECK(updated.missing == gone);
  CHECK(updated.forgotten == 4);
  CHECK(store.modules.size() == 4);
  CHECK(run(false, MissingPolicy::fail).missing.empty());
  CHECK(exit_code(run(false, MissingPolicy::fail)) == 0);
}
