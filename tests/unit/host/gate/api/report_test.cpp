#include <doctest/doctest.h>

#include <initializer_list>

#include "host/gate/api/report.h"

namespace ferry::gate {
namespace {

Report report_of(std::initializer_list<Verdict> verdicts, UnknownPolicy unknown = UnknownPolicy::fail) {
  Report report;
  report.unknown = unknown;
  for (const Verdict verdict : verdicts) report.cases.emplace_back().verdict = verdict;
  return report;
}

TEST_CASE("a run without cases, or with nothing that became worse, is fine") {
  CHECK(exit_code(report_of({})) == 0);
  CHECK(exit_code(report_of({Verdict::unchanged, Verdict::first, Verdict::no_change, Verdict::faster})) == 0);
}

TEST_CASE("each verdict that is not fine has its exit code") {
  CHECK(exit_code(report_of({Verdict::slower})) == 1);
  CHECK(exit_code(report_of({Verdict::wrong})) == 1);
  CHECK(exit_code(report_of({Verdict::over_limit})) == 1);
  CHECK(exit_code(report_of({Verdict::failed})) == 2);
  CHECK(exit_code(report_of({Verdict::infrastructure})) == 3);
  CHECK(exit_code(report_of({Verdict::cannot_tell})) == 5);
  CHECK(exit_code(report_of({Verdict::interrupted})) == 5);
}

TEST_CASE("of several exit codes the most important one counts, wherever its case stands") {
  CHECK(exit_code(report_of({Verdict::cannot_tell, Verdict::infrastructure, Verdict::no_change})) == 3);
  CHECK(exit_code(report_of({Verdict::infrastructure, Verdict::slower, Verdict::cannot_tell})) == 1);
  CHECK(exit_code(report_of({Verdict::slower, Verdict::failed})) == 2);
}

TEST_CASE("a policy may let what cannot be told pass, but not an interrupted run") {
  CHECK(exit_code(report_of({Verdict::cannot_tell}, UnknownPolicy::pass)) == 0);
  CHECK(exit_code(report_of({Verdict::cannot_tell, Verdict::slower}, UnknownPolicy::pass)) == 1);
  CHECK(exit_code(report_of({Verdict::interrupted}, UnknownPolicy::pass)) == 5);
}

TEST_CASE("a case that the user accepts does not make the run fail") {
  Report report = report_of({Verdict::slower, Verdict::cannot_tell});
  report.cases[0].is_accepted = true;
  CHECK(exit_code(report) == 5);
  report.cases[1].is_accepted = true;
  CHECK(exit_code(report) == 0);
}

}  // namespace
}  // namespace ferry::gate
