#include "host/gate/report/baseline_notes.h"

#include <doctest/doctest.h>

#include "host/gate/report/junit_report.h"
#include "host/gate/report/markdown_report.h"
#include "host/gate/report/terminal_report.h"
#include "host/gate/report/words.h"

using namespace ferry::gate;
using Notes = std::vector<std::string>;

namespace {

CaseResult result_of(const std::string& name, Verdict verdict, NewBaseline new_baseline = NewBaseline::none) {
  CaseResult result;
  result.name = name;
  result.board = "pi";
  result.verdict = verdict;
  result.new_baseline = new_baseline;
  result.is_accepted = new_baseline == NewBaseline::accepted;
  return result;
}

Report report_of(std::vector<CaseResult> cases, bool is_update) {
  Report report;
  report.baseline = "main";
  report.cases = std::move(cases);
  report.is_update = is_update;
  return report;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("cases of the baseline that the suite lacks are listed, and fail a run that was told so") {
  Report report = report_of({result_of("mm", Verdict::no_change)}, false);
  report.missing = {"conv", "fft"};
  const std::string start = "2 cases of the baseline are no longer in the suite: conv, fft";
  CHECK(baseline_notes(report) == Notes{start});
  CHECK(exit_code(report) == 0);
  CHECK(contains(terminal_report(report, 0, stdout), start));
  CHECK(contains(markdown_report(report, {}), "2 cases of the baseline are no longer in the suite"));
  CHECK(!contains(junit_report(report), "conv"));
  report.missing_policy = MissingPolicy::fail;
  CHECK(exit_code(report) == 2);
  CHECK(baseline_notes(report) ==
        Notes{start + "; with --missing allow that passes, and --update deletes them from the baseline main"});
  CHECK(contains(junit_report(report), "<error message=\"the case of the baseline is no longer in the suite\""));
  CHECK(contains(headline(report), "Failed, since the suite lacks cases of the baseline"));
  report.missing = {"fft"};
  report.missing_policy = MissingPolicy::allow;
  report.forgotten = 1;
  CHECK(baseline_notes(report) == Notes{"1 case of the baseline is no longer in the suite: fft; --update has deleted "
                                        "it from the baseline main"});
}

TEST_CASE("whose modules have run is said, unless they are the user's own") {
  Report report = report_of(
      {result_of("mm", Verdict::no_change), result_of("fft", Verdict::slower), result_of("conv", Verdict::no_change)},
      false);
  report.cases[0].sides[Side::baseline].holder = report.cases[1].sides[Side::baseline].holder = "anna";
  CHECK(baseline_notes(report) == Notes{"the baseline's modules of mm, fft were stored by anna"});
  report.cases[1].sides[Side::baseline].holder = "uid 1001";
  CHECK(baseline_notes(report) ==
        Notes{"the baseline's module of mm was stored by anna", "the baseline's module of fft was stored by uid 1001"});
}

TEST_CASE("a run that neither stores nor was asked to says nothing of the baseline") {
  CHECK(baseline_notes(report_of({}, false)) == Notes());
  CHECK(baseline_notes(report_of({result_of("mm", Verdict::no_change), result_of("fft", Verdict::slower)}, false)) ==
        Notes());
}

TEST_CASE("an update names the modules that are the baseline from now on") {
  CHECK(baseline_notes(
            report_of({result_of("mm", Verdict::no_change, NewBaseline::updated),
                       result_of("fft", Verdict::faster, NewBaseline::updated), result_of("dot", Verdict::unchanged)},
                      true)) == Notes{"--update: the modules of mm, fft are the baseline main from now on"});
  CHECK(baseline_notes(report_of({result_of("mm", Verdict::first, NewBaseline::first)}, true)) ==
        Notes{"the baseline main has these cases from now on: mm"});
}

TEST_CASE("an update that changes nothing says why") {
  const std::string start = "--update leaves the baseline main as it was";
  Report report = report_of({result_of("mm", Verdict::no_change), result_of("fft", Verdict::slower)}, true);
  CHECK(baseline_notes(report) == Notes{start + ": the run is not green"});
  report.is_interrupted = true;
  CHECK(baseline_notes(report) == Notes{start + ": the run was interrupted"});
  report.store_failure = "the disk is full";
  CHECK(baseline_notes(report) == Notes{start + ": the results could not be stored"});
  CHECK(baseline_notes(report_of({result_of("mm", Verdict::unchanged)}, true)) ==
        Notes{start + ": no case has a new module that was compared with it"});
  report = report_of({result_of("mm", Verdict::first, NewBaseline::first), result_of("fft", Verdict::wrong)}, true);
  CHECK(baseline_notes(report) ==
        Notes{"the baseline main has these cases from now on: mm", start + " otherwise: the run is not green"});
  report = report_of(
      {result_of("mm", Verdict::no_change, NewBaseline::updated), result_of("fft", Verdict::cannot_tell)}, true);
  report.unknown = UnknownPolicy::pass;
  CHECK(baseline_notes(report) ==
        Notes{"--update: the module of mm is the baseline main from now on", "--update leaves out fft: cannot tell"});
}

TEST_CASE("each accepted case is said to be the baseline, or why it is not") {
  Report report =
      report_of({result_of("mm", Verdict::slower, NewBaseline::accepted), result_of("fft", Verdict::wrong)}, false);
  report.to_accept = {"dot", "fft", "mm"};
  CHECK(baseline_notes(report) == Notes{"--accept: the module of mm is the baseline main from now on",
                                        "--accept dot has no effect: the case was not run",
                                        "--accept fft has no effect: its module did not run without a failure"});
}

TEST_CASE("a module that a later one has overtaken is not said to be the baseline") {
  Report report = report_of({result_of("mm", Verdict::no_change, NewBaseline::outdated)}, true);
  const std::string kept =
      "the baseline main keeps other modules of mm, which a run of another commit has stored later";
  CHECK(baseline_notes(report) == Notes{kept});
  report.is_update = false;
  report.to_accept = {"mm"};
  CHECK(baseline_notes(report) == Notes{kept});
  CHECK_FALSE(contains(junit_report(report), "from now on"));
}

TEST_CASE("a case with a new baseline on some of its boards is named with these") {
  Report report = report_of(
      {result_of("mm", Verdict::first, NewBaseline::first), result_of("mm", Verdict::wrong),
       result_of("fft", Verdict::first, NewBaseline::first), result_of("fft", Verdict::first, NewBaseline::first)},
      false);
  report.cases[1].board = report.cases[3].board = "x86";
  CHECK(baseline_notes(report) == Notes{"the baseline main has these cases from now on: mm on pi, fft"});
  std::vector<CaseResult> many;
  for (int i = 0; i < 14; ++i) many.push_back(result_of("c" + std::to_string(i), Verdict::first, NewBaseline::first));
  CHECK(baseline_notes(report_of(many, false)).front().ends_with("c10, c11 and 2 more"));
}

TEST_CASE("a name of a baseline that the suite does not have is named beside those that it has") {
  Report report = report_of({result_of("mm", Verdict::first, NewBaseline::first)}, false);
  report.baseline = "mian";
  report.other_baselines = {"main", "release"};
  CHECK(baseline_notes(report).front() ==
        "there was no baseline mian in this suite, only main, release: nothing was compared");
  for (const std::string& text : {terminal_report(report, 0, stdout), junit_report(report)}) {
    CAPTURE(text);
    CHECK(contains(text, "baseline"));
  }
}

TEST_CASE("a board is shown by its own name, and with that of the suite where the suite names it") {
  CaseResult result = result_of("mm", Verdict::slower);
  CHECK(board_of(result) == "pi");
  result.environment.board = "pi";
  CHECK(board_of(result) == "pi");
  result.environment.board = "rpi4-03";
  CHECK(board_of(result) == "pi (rpi4-03)");
  result.board = "farm://lab/rpi4";
  CHECK(board_of(result) == "rpi4-03");
  const Report report = report_of({result}, false);
  CHECK(contains(terminal_report(report, 0, stdout), " rpi4-03\n"));
  CHECK(contains(markdown_report(report, {}), "<code>rpi4-03</code>"));
  // The name of a test stays the same whichever board measures.
  CHECK(contains(junit_report(report), "name=\"mm on farm://lab/rpi4\""));
  CHECK(contains(junit_report(report), "measured on rpi4-03"));
}

TEST_CASE("a reason of several lines keeps them in every format") {
  Report report = report_of({result_of("mm", Verdict::failed)}, false);
  report.cases[0].reason = "clang refuses mm.c:\nmm.c:1:2: error: no <b>\n  1 |   y\n    |    ^\n";
  const std::string terminal = terminal_report(report, 40, stdout);
  CAPTURE(terminal);
  CHECK(contains(terminal, "mm on pi: clang refuses mm.c:\n  mm.c:1:2: error: no <b>\n    1 |   y\n      |    ^\n"));
  CHECK(contains(junit_report(report), "clang refuses mm.c:&#10;mm.c:1:2: error: no &lt;b&gt;&#10;"));
  const std::string markdown = markdown_report(report, {});
  CAPTURE(markdown);
  CHECK(contains(markdown, "<code>clang refuses mm&#46;c&#58;</code><br><code>mm&#46;c&#58;1"));
  CHECK(contains(markdown, "<br><code>\u00a0\u00a0\u00a0\u00a0&#124;    &#94;</code>\n"));
  CHECK_FALSE(contains(markdown, "&#92;n"));
}
