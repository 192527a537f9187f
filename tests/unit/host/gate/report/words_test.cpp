#include "host/gate/report/words.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/gate/sample_reports.h"

using namespace ferry::gate;
using ferry::test::measured_case;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Report report_of(std::initializer_list<Verdict> verdicts) {
  Report report;
  for (const Verdict verdict : verdicts) report.cases.emplace_back().verdict = verdict;
  return report;
}

}  // namespace

TEST_CASE("the headline says the outcome and counts the verdicts, the gravest first") {
  CHECK(headline(report_of({})) == "Passed: no cases");
  CHECK(headline(report_of({Verdict::no_change, Verdict::faster, Verdict::no_change})) ==
        "Passed: 1 faster, 2 no change");
  CHECK(headline(report_of({Verdict::no_change, Verdict::slower, Verdict::wrong, Verdict::slower})) ==
        "Failed: 1 wrong, 2 slower, 1 no change");
  CHECK(headline(report_of({Verdict::slower, Verdict::failed})) == "Failed by a mistake in a case: 1 failed, 1 slower");
  CHECK(headline(report_of({Verdict::infrastructure, Verdict::cannot_tell})) ==
        "No board could measure all cases: 1 infrastructure, 1 cannot tell");
  CHECK(headline(report_of({Verdict::cannot_tell})) == "Cannot tell: 1 cannot tell");
  Report report = report_of({Verdict::interrupted});
  report.is_interrupted = true;
  CHECK(headline(report) == "Interrupted: 1 interrupted");
  report = report_of({Verdict::cannot_tell});
  report.unknown = UnknownPolicy::pass;
  CHECK(headline(report) == "Passed: 1 cannot tell");
}

TEST_CASE("the severity of a report agrees with its exit code for every pair of verdicts") {
  for (const Verdict one : ferry::test::kAllVerdicts) {
    for (const Verdict other : ferry::test::kAllVerdicts) {
      const Report report = report_of({one, other});
      CAPTURE(headline(report));
      const int code = exit_code(report);
      CHECK((severity_of(report) == Severity::good) == (code == 0));
      CHECK((severity_of(report) == Severity::bad) == (code == 1 || code == 2));
    }
  }
}

TEST_CASE("changes are percentages with their sign, or multiples where they are large") {
  CHECK(percent_change(1) == "0.00%");
  CHECK(percent_change(0.9999999) == "0.00%");
  CHECK(percent_change(1.031) == "+3.10%");
  CHECK(percent_change(0.5) == "-50.0%");
  CHECK(percent_change(2.5) == "+150%");
  CHECK(percent_change(12.5) == "12.5 times");
  CHECK(percent_change(1e6) == "1e+06 times");
  CHECK(percent_change(kInfinity) == "unknown");
  CHECK(percent_change(std::numeric_limits<double>::quiet_NaN()) == "unknown");
}

TEST_CASE("a change is told with its interval, without bounds, or by instructions") {
  CaseResult result = measured_case("mm", Verdict::slower, 1.03, 8, 1);
  result.change = {1.031, 1.024, 1.039};
  CHECK(change_text(result) == "+3.10% (+2.40% to +3.90%)");
  result.change.high = kInfinity;
  CHECK(change_text(result) == "+3.10% (no bounds yet)");
  result.by_instructions = true;
  result.instructions = {{100, 102.5}};
  CHECK(change_text(result) == "+2.50% instructions");
  CHECK(change_text(CaseResult{}) == "");
}

TEST_CASE("a change and the ends of its interval have one unit") {
  CHECK(change_text(Change{7.73, 6.9, 8.2}) == "+673% (+590% to +720%)");
  CHECK(change_text(Change{7.73, 6.9, 11}) == "7.73 times (6.9 times to 11 times)");
  CHECK(change_text(Change{12, 8, 14}) == "12 times (8 times to 14 times)");
  CHECK(change_text(Change{1.1, 0.5, 12.5}) == "1.1 times (0.5 times to 12.5 times)");
  CHECK(change_text(Change{12, 0, kInfinity}) == "12 times");
  const ChangeWords words = words_of({3, 2, 30});
  CHECK(words.ratio == "3 times");
  CHECK(words.low == "2 times");
  CHECK(words.high == "30 times");
}

TEST_CASE("what is to be said of several cases is said once, with the inputs of wrong ones") {
  Report report = report_of({Verdict::unchanged, Verdict::unchanged, Verdict::wrong, Verdict::unchanged,
                             Verdict::unchanged, Verdict::unchanged, Verdict::first});
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    CaseResult& result = report.cases[i];
    result.name = "c" + std::to_string(i);
    result.board = "pi";
    result.inputs = "--seed 0";
    result.reason = result.verdict == Verdict::unchanged ? "it is the same" : "other";
  }
  std::vector<const CaseResult*> all;
  for (const CaseResult& result : report.cases) all.push_back(&result);
  std::vector<Note> notes = notes_of(all);
  REQUIRE(notes.size() == 3);
  CHECK(notes[0].title == "c0, c1, c3 and 2 more on pi");
  CHECK(notes[0].text == "it is the same");
  CHECK(notes[1].title == "c2 and c6 on pi");
  CHECK(notes[2].title == "c2 on pi");
  CHECK(notes[2].text == "the inputs: --seed 0");

  report.cases[6].board = "arm";
  report.cases[6].warnings = {"hot"};
  notes = notes_of(all);
  REQUIRE(notes.size() == 4);
  CHECK(notes[1].title == "c2 on pi and c6 on arm");
  CHECK(notes[3].title == "c6 on arm");
  CHECK(notes[3].text == "warning: hot");
}

TEST_CASE("a run that failed says so whatever its cases are") {
  Report report = report_of({Verdict::no_change});
  report.failure = {"the key was revoked", 3};
  CHECK(headline(report) == "No verdicts: the run failed");
  CHECK(exit_code(report) == 3);
  CHECK(severity_of(report) == Severity::unsure);
  report.failure->exit_code = 2;
  CHECK(severity_of(report) == Severity::bad);
}

TEST_CASE("a limit is exceeded beyond its value, kept at it and open where nothing was measured") {
  CaseResult result;
  result.limits = {1e-3, 4096, 0.5};
  std::vector<LimitCheck> checks = limit_checks(result);
  REQUIRE(checks.size() == 3);
  for (const LimitCheck& check : checks) {
    CHECK(check.measured == "");
    CHECK_FALSE(check.is_exceeded);
  }
  result.sides[Side::current].seconds = 1e-3;
  result.sides[Side::current].code_bytes = 4000;
  result.sides[Side::current].data_bytes = 96;
  result.share_of_peak = 0.5;
  for (const LimitCheck& check : limit_checks(result)) CHECK_FALSE(check.is_exceeded);
  result.sides[Side::current].seconds = 1.001e-3;
  result.sides[Side::current].data_bytes = 97;
  result.share_of_peak = 0.499;
  for (const LimitCheck& check : limit_checks(result)) CHECK(check.is_exceeded);
  CHECK(limit_checks(CaseResult{}).empty());
}

TEST_CASE("results are sorted by what needs attention and otherwise stay in order") {
  Report report = report_of({Verdict::unchanged, Verdict::slower, Verdict::no_change, Verdict::slower, Verdict::wrong});
  for (std::size_t i = 0; i < report.cases.size(); ++i) report.cases[i].name = std::to_string(i);
  std::string order;
  for (const CaseResult* result : by_importance(report)) order += result->name;
  CHECK(order == "41320");
}

TEST_CASE("times outside of four-digit years are out of range") {
  CHECK(utc_text(0) == "1970-01-01 00:00:00 UTC");
  CHECK(utc_text(253'402'300'799) == "9999-12-31 23:59:59 UTC");
  CHECK(utc_text(253'402'300'800) == "out of range");
  CHECK(utc_text(-1) == "out of range");
}
