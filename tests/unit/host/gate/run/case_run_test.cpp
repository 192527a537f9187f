// Tests of running single cases on this machine: how many sessions they open, what is checked of a case that has no
// baseline or did not change, and what is said of limits.
#include "host/gate/run/case_run.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/throw_status.h"
#include "module/module_file.h"
#include "tests/unit/host/gate/run/fake_store.h"
#include "tests/unit/host/gate/run/sides.h"
#include "tests/unit/host/gate/run/times_by_rounds.h"

using namespace ferry;
using namespace ferry::gate;

namespace {

const std::string kHalf = "for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.5f;";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Runs cases one after the other on one board, with the modules of the earlier ones as baselines.
struct Runner {
  test::FakeStore store;
  test::Folder folder;
  Baseline baseline;
  std::mutex shared;
  stats::Random random{3};
  int sessions = 0;
  bool is_here = false;
  std::vector<CaseTarget> lost;
  OpenBoard board{[this](const ConnectOptions& options) {
                    ++sessions;
                    return local_device(options);
                  },
                  is_here};
  TrustHolder trust;
  Observer observer;
  explicit Runner(bool here = false) : is_here(here) {}

  SuiteCase c_case(const std::string& body) const {
    return test::case_of(
        folder.file("f.c", test::kSignature + ("void f(const float* x, float* y) {\n" + body + "\n}\n")));
  }

  CaseOutcome operator()(const SuiteCase& suite_case) {
    const RunContext context{
        *test::own_compiler(),        store, baseline, "now", 0.01, 64, shared, "suite.toml", trust, lost,
        test::times_by_rounds("r < ")};
    CaseOutcome outcome = run_case(context, suite_case, board, random, observer);
    if (outcome.module) baseline[{suite_case.name, outcome.target}] = *outcome.module;
    return outcome;
  }
};

// A compiled module whose text says something else than its code computes.
Bytes lying_module() {
  KernelOptions options;
  options.expression = "def f(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  const KernelSource source = read_kernel(test::own_compiler(), options);
  const Target target = target_for(local_device(), "", source);
  ModuleFile file = value_or_throw(read_module(compile_kernel(source, "", target, {}).module.bytes()));
  const std::size_t factor = file.source.find("2 * A");
  REQUIRE(factor != std::string::npos);
  file.source[factor] = '3';
  return write_module(file);
}

}  // namespace

TEST_CASE("a board is asked once what it is, not by each case") {
  Runner run;
  const SuiteCase half = run.c_case(kHalf);
  CHECK(run(half).result.verdict == Verdict::first);
  // One that says what the board is, one that calls the kernel with guards between tensors, and one that calls it
  // again.
  CHECK(run.sessions == 3);
  CHECK(run(half).result.verdict == Verdict::unchanged);
  CHECK(run.sessions == 3);
  SuiteCase other = half;
  other.name = "other";
  CHECK(run(other).result.verdict == Verdict::first);
  CHECK(run.sessions == 5);
}

TEST_CASE("another machine that answers in place of a board is not taken for it") {
  const Device here = local_device();
  expect_same_environment(environment_of(bench::ran_on(here), ""), environment_of(bench::ran_on(local_device()), ""));
  Environment other = environment_of(bench::ran_on(here), "");
  other.processor = "cortex-a72";
  try {
    expect_same_environment(environment_of(bench::ran_on(here), ""), other);
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    CHECK(contains(error.what(), "cortex-a72"));
  }
}

TEST_CASE("a case without a baseline is compared with its definition, unless it may compute something else") {
  Runner run;
  SuiteCase right = test::case_of("");
  right.kernel.file.clear();
  right.kernel.expression = "def f(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  right.call.sizes = {"N=777"};
  CHECK(run(right).result.verdict == Verdict::first);

  const Bytes bytes = lying_module();
  SuiteCase lying = test::case_of(run.folder.file("f.ferry", {bytes.begin(), bytes.end()}));
  lying.name = "lying";
  lying.call.sizes = {"N=777"};
  const CaseOutcome wrong = run(lying);
  CAPTURE(wrong.result.reason);
  CHECK(wrong.result.verdict == Verdict::wrong);
  CHECK(contains(wrong.result.reason, "the current module computes something else: "));
  CHECK(wrong.has_run);

  lying.name = "allowed";
  lying.allow_difference = true;
  CHECK(run(lying).result.verdict == Verdict::first);
}

TEST_CASE("elements of which the definition says nothing are counted in a warning, and are no mistake") {
  Runner run;
  SuiteCase sum = test::case_of("");
  sum.kernel.file.clear();
  // The sum is about 1e38, but that of the magnitudes is beyond the largest f32.
  sum.kernel.expression = "def f(float(N,K) A) -> (B) { B(i) +=! (A(i,k) - 7.3) * 3.7e37 }";
  sum.call.sizes = {"N=1,K=16"};
  sum.call.arguments = {"A=:iota"};
  const CaseResult result = run(sum).result;
  CAPTURE(result.reason);
  CHECK(result.verdict == Verdict::first);
  const auto is_about_order = [](const std::string& text) { return contains(text, "1 elements of B of the current"); };
  CHECK(std::ranges::count_if(result.warnings, is_about_order) == 1);
}

TEST_CASE("a baseline of somebody else runs on this machine only if he is trusted, and its holder is reported") {
  for (const bool is_here : {true, false}) {
    CAPTURE(is_here);
    Runner run(is_here);
    SuiteCase one = run.c_case(kHalf);
    REQUIRE(run(one).result.verdict == Verdict::first);
    const Baseline stored = run.baseline;
    const auto change = [&](const std::string& holder) {
      run.baseline = stored;
      run.baseline.begin()->second.holder = holder;
      return run.c_case("for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.5f; y[0] = x[0] * 0.25f;");
    };
    std::vector<std::string> asked;
    run.trust = [&](const std::string& holder, const std::string& module) {
      asked.push_back(module + " of " + holder);
      if (holder == "eve") throw UsageError("nobody trusts eve");
    };
    // The results differ, which only a run shows.
    CHECK(run(change("")).result.verdict == Verdict::wrong);
    CHECK(asked.empty());
    const CaseResult eves = run(change("eve")).result;
    CHECK(eves.sides[Side::baseline].holder == "eve");
    CHECK(eves.verdict == (is_here ? Verdict::failed : Verdict::wrong));
    if (is_here) CHECK(eves.reason == "nobody trusts eve");
    CHECK(run(change("anna")).result.verdict == Verdict::wrong);
    if (is_here) {
      CHECK(asked == std::vector<std::string>{"the baseline's module of " + one.name + " of eve",
                                              "the baseline's module of " + one.name + " of anna"});
    } else {
      CHECK(asked.empty());
    }
    // What is not run needs no trust.
    run.baseline = stored;
    run.baseline.begin()->second.holder = "eve";
    CHECK(run(run.c_case(kHalf)).result.verdict == Verdict::unchanged);
  }
}

TEST_CASE("the size of a module is checked also if it did not change") {
  Runner run;
  SuiteCase half = run.c_case(kHalf);
  const CaseOutcome first = run(half);
  CHECK(first.result.verdict == Verdict::first);
  const SideFacts& side = first.result.sides[Side::current];
  half.limits.bytes = side.code_bytes + side.data_bytes;
  CHECK(run(half).result.verdict == Verdict::unchanged);

  half.limits.bytes = *half.limits.bytes - 1;
  const CaseResult same_source = run(half).result;
  CAPTURE(same_source.reason);
  CHECK(same_source.verdict == Verdict::over_limit);
  CHECK(contains(same_source.reason, "got " + std::to_string(side.code_bytes + side.data_bytes) + " bytes"));
  CHECK(contains(same_source.reason, "otherwise: unchanged, the source, or the object"));
  CHECK(same_source.sides[Side::current].label == "now");

  SuiteCase same_code = test::case_of("");
  same_code.kernel.file.clear();
  same_code.kernel.expression = "def f(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  same_code.call.sizes = {"N=777"};
  same_code.name = "same code";
  CHECK(run(same_code).result.verdict == Verdict::first);
  same_code.kernel.expression += "  # a comment";
  same_code.limits.bytes = 1;
  const CaseResult result = run(same_code).result;
  CAPTURE(result.reason);
  CHECK(result.verdict == Verdict::over_limit);
  CHECK(contains(result.reason, "the compiled code is that of the baseline"));
}

TEST_CASE("a kernel in C is compiled once, whether or not it changed") {
  Runner run;
  int compilations = 0;
  run.observer.compilation = [&](const std::string&) {
    ++compilations;
    return StepGuard();
  };
  CHECK(run(run.c_case(kHalf)).result.verdict == Verdict::first);
  CHECK(compilations == 1);
  CHECK(run(run.c_case(kHalf)).result.verdict == Verdict::unchanged);
  CHECK(compilations == 2);
  CHECK(run(run.c_case("for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.25f;")).result.verdict == Verdict::wrong);
  CHECK(compilations == 3);
}

TEST_CASE("a case that is slower and over a limit is both") {
  const auto spin = [](int rounds) {
    return "for (int r = 0; r < " + std::to_string(rounds) +
           "; ++r) for (int i = 0; i < 64; ++i) y[i] = (r == 0 ? 0 : y[i]) * 0.5f + x[i];";
  };
  Runner run;
  SuiteCase slower = run.c_case(spin(400));
  CHECK(run(slower).result.verdict == Verdict::first);
  slower = run.c_case(spin(1200));
  slower.results.rtol = 1e-3;
  slower.limits.bytes = 1;
  slower.limits.seconds = 1e-9;
  const CaseResult result = run(slower).result;
  CAPTURE(result.reason);
  CHECK(result.verdict == Verdict::slower);
  CHECK(contains(result.reason, "also over a limit: expected at most 1 byte of code and data"));
  CHECK(contains(result.reason, "; expected at most 1.00 ns a call"));
  CHECK_FALSE(result.diff.is_empty());

  slower = run.c_case(spin(300));
  slower.limits.bytes = 1;
  const CaseResult faster = run(slower).result;
  CAPTURE(faster.reason);
  CHECK(faster.verdict == Verdict::over_limit);
  CHECK(contains(faster.reason, "; otherwise: faster"));
}

TEST_CASE("a kernel that crashes is not accepted, and one whose baseline crashes cannot be judged") {
  Runner run;
  CHECK(run(run.c_case(kHalf)).result.verdict == Verdict::first);
  const CaseOutcome crashed = run(run.c_case("*(volatile int*)8 = 1; y[0] = x[0];"));
  CHECK(crashed.result.verdict == Verdict::wrong);
  CHECK_FALSE(crashed.has_run);
  const CaseResult mended = run(run.c_case(kHalf)).result;
  CHECK(mended.verdict == Verdict::cannot_tell);
  CHECK(contains(mended.reason, "the baseline's kernel fails: "));
}

TEST_CASE("a wrong case comes with its inputs and with what changed in the source") {
  for (const char* body :
       {"for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.25f;", "*(volatile int*)8 = 1; y[0] = x[0];"}) {
    CAPTURE(body);
    Runner run;
    SuiteCase half = run.c_case(kHalf);
    half.call.seed = 7;
    CHECK(run(half).result.verdict == Verdict::first);
    half.kernel = run.c_case(body).kernel;
    const CaseResult wrong = run(half).result;
    CAPTURE(wrong.reason);
    CHECK(wrong.verdict == Verdict::wrong);
    CHECK(wrong.inputs == "--arg x=f32[64]:random --seed 7");
    CHECK(contains(wrong.diff.source, "-for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.5f;"));
    CHECK(contains(wrong.diff.source, "+" + std::string(body)));
  }
}

TEST_CASE("a case whose file is missing has failed, and the board is not asked") {
  Runner run;
  SuiteCase gone = run.c_case(kHalf);
  gone.missing_file = "suite.toml:3: cases.f: f.c: No such file or directory";
  const CaseOutcome outcome = run(gone);
  CHECK(outcome.result.verdict == Verdict::failed);
  CHECK(outcome.result.reason == gone.missing_file);
  CHECK_FALSE(outcome.module);
  CHECK(run.sessions == 0);
}

TEST_CASE("a case that was renamed is compared with the baseline of its earlier name") {
  Runner run;
  SuiteCase half = run.c_case(kHalf);
  half.name = "old";
  CHECK(run(half).result.verdict == Verdict::first);
  half.name = "new";
  const std::string target = run.baseline.begin()->first.target;
  run.lost = {{"old", target}, {"gone", "another target"}};
  const CaseResult first = run(half).result;
  CHECK(first.verdict == Verdict::first);
  CHECK(first.reason ==
        "there was no baseline; the baseline has old, which the suite has no more: if this case was renamed, was = "
        "\"old\" compares it with that module");
  run.baseline.erase({"new", target});

  half.was = "old";
  CaseOutcome renamed = run(half);
  CHECK(renamed.result.verdict == Verdict::unchanged);
  CHECK(renamed.is_renamed);
  // It has a baseline of its own now.
  half.kernel = run.c_case("for (int i = 0; i < 64; ++i) y[i] = x[i] * 0.25f;").kernel;
  renamed = run(half);
  CHECK(renamed.result.verdict == Verdict::wrong);
  CHECK_FALSE(renamed.is_renamed);
}

TEST_CASE("a mistake in the keys of a case is named with its place in the suite") {
  Runner run;
  SuiteCase twice = test::case_of("");
  twice.line = 3;
  twice.kernel.file.clear();
  twice.kernel.expression = "def f(float(N,M) A) -> (B) { B(i,j) = 2 * A(i,j) }";
  const auto mistake_with = [&](const std::vector<std::string>& sizes, const std::vector<std::string>& inputs) {
    twice.call.sizes = sizes;
    twice.call.arguments = inputs;
    const CaseResult result = run(twice).result;
    CHECK(result.verdict == Verdict::failed);
    return result.reason;
  };
  const std::string start = "suite.toml:3: cases." + twice.name;
  CHECK(mistake_with({}, {}) == start +
                                    ": f: the arguments do not say what N, M are; give them by name, or arguments with "
                                    "shapes (sizes = \"NAME=SIZE\" or inputs = \"NAME=DTYPE[SIZES]\")");
  CHECK(mistake_with({"N=4,M=4,Q=1"}, {}) == start + ".sizes: Q=1: f has no size 'Q'; expected one of: N, M");
  CHECK(mistake_with({}, {"X=f32[4,4]"}) == start + ".inputs: X=f32[4,4]: f has no input 'X'; expected one of: A");
}
