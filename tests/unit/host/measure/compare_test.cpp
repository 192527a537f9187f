// Tests of comparing two kernels on a device of this machine: kernels whose difference is known, kernels in C, and
// what cannot be compared.
#include "host/measure/compare.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "ferry/kernel/option_error.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/code_layout.h"
#include "host/measure/paired_samples.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;
using bench::KernelComparison;
using bench::KernelPair;

namespace {

KernelOptions text(const std::string& expression) {
  KernelOptions options;
  options.expression = expression;
  return options;
}

KernelOptions file(const std::string& name) {
  KernelOptions options;
  options.file = name;
  return options;
}

// Sums `products` products for each element.
KernelOptions work(int products) {
  return text(
      "def work(float(N) X, float(K) W) -> (B) { B(i) +=! X(i) * W(k) where k in 0:" + std::to_string(products) + " }");
}

bench::CompareOptions brief(const std::vector<std::string>& sizes) {
  bench::CompareOptions options;
  options.call.sizes = sizes;
  options.processes = 4;
  options.sampling.bench = {.number = 0, .repeat = 10, .min_repeat_ms = 0, .warmup_ms = 0, .threads = 1};
  return options;
}

Device this_machine(const ConnectOptions& options) { return local_device(options); }

const char* const kAdd =
    "// ferry: add(in f32[n] x, in f32[n] y, out f32[n] z)\n"
    "void add(const float* x, const float* y, float* z, long n) { for (long i = 0; i < n; ++i) z[i] = x[i] + y[i]; }\n";

}  // namespace

TEST_CASE("a kernel that does four times the work is slower, by about that") {
  const KernelPair kernels = bench::read_pair(test::own_compiler(), work(4000), work(1000));
  bench::CompareOptions options = brief({"N=64,K=5000"});
  options.compares_results = false;
  const KernelComparison found = bench::compare(this_machine, kernels, options);
  CHECK(found.outputs.empty());
  CHECK(found.times.verdict == stats::Verdict::a_slower);
  CHECK(found.times.ratio > 2);
  CHECK(found.times.ratio < 8);
  REQUIRE(found.processes.size() == 4);
  CHECK(found.median(0) > 2 * found.median(1));
  CHECK(found.facts.functions[1].name == "work");
  CHECK(found.facts.device == "this machine");
  double sum = 0;
  for (const bench::ComparedProcess& process : found.processes) sum += process.log_ratio;
  CHECK(found.times.ratio == doctest::Approx(std::exp(sum / 4)));
}

TEST_CASE("where the time is over, only the least number of processes is measured, and otherwise all are") {
  const KernelPair kernels = bench::read_pair(test::own_compiler(), work(100), work(100));
  bench::CompareOptions options = brief({"N=16,K=100"});
  options.processes = 6;
  const auto now = std::chrono::steady_clock::now();
  CHECK(bench::compare(this_machine, kernels, options, {}, now).processes.size() == bench::kLeastProcesses);
  CHECK(bench::compare(this_machine, kernels, options, {}, now + std::chrono::hours(1)).processes.size() == 6);
}

TEST_CASE("each process has a session and a layout of its own, which the seed determines") {
  int sessions = 0;
  const auto open = [&](const ConnectOptions& options) {
    ++sessions;
    return local_device(options);
  };
  const KernelPair kernels = bench::read_pair(test::own_compiler(), work(100), work(100));
  const bench::CompareOptions options = brief({"N=16,K=100"});
  const KernelComparison first = bench::compare(open, kernels, options);
  CHECK(sessions == 7);  // one says what to compile for, and each kernel has one for its results
  REQUIRE(first.outputs.size() == 1);
  CHECK(first.outputs[0].different == 0);
  CHECK(first.difference().empty());
  const KernelComparison again = bench::compare(open, kernels, options);
  std::set<std::uint32_t> layouts;
  for (std::size_t i = 0; i < 4; ++i) {
    const bench::ProcessLayout &a = first.processes[i].layout, &b = again.processes[i].layout;
    CHECK(a.code[0] == b.code[0]);
    CHECK(a.memory_pages == b.memory_pages);
    CHECK(a.offsets == b.offsets);
    layouts.insert(a.code[0]);
    layouts.insert(a.code[1]);
    CHECK(first.processes[i].timings[0].seconds.size() == 10);
    CHECK(first.processes[i].timings[1].seconds.size() == 10);
  }
  CHECK(layouts.size() > 2);
}

TEST_CASE("each kernel is compiled once, and its code is linked in a layout of its own for each process") {
  int compilations = 0;
  Observer observer;
  observer.compilation = [&](const std::string&) {
    ++compilations;
    return nullptr;
  };
  const KernelPair kernels = bench::read_pair(test::own_compiler(), work(100), work(200));
  bench::CompareOptions options = brief({"N=16,K=200"});
  options.compares_results = false;
  const KernelComparison found = bench::compare(this_machine, kernels, options, observer);
  CHECK(compilations == 2);
  REQUIRE(found.processes.size() == 4);
  for (const bench::ComparedProcess& process : found.processes)
    for (const std::uint32_t layout : process.layout.code) CHECK(layout < bench::kLayouts);
}

TEST_CASE("kernels that compute something else are not measured, and the first difference is named") {
  const KernelPair kernels = bench::read_pair(test::own_compiler(), text("def f(float(N) A) -> (B) { B(i) = A(i) }"),
                                              text("def f(float(N) A) -> (B) { B(i) = A(i) + float(i) }"));
  bench::CompareOptions options = brief({"N=5"});
  options.call.arguments = {"A=:ones"};
  const KernelComparison found = bench::compare(this_machine, kernels, options);
  CHECK(found.difference() == "B[1] 1 against 2 (4 of 5 elements differ)");
  CHECK(found.processes.empty());
  CHECK(found.times.verdict == stats::Verdict::unknown);
  options.limits.atol = 4;
  CHECK(bench::compare(this_machine, kernels, options).processes.size() == 4);
}

TEST_CASE("a kernel in C without a signature is compared with one that has it") {
  const test::Folder folder;
  const std::string with = folder.file("with.c", kAdd);
  const std::string without = folder.file("without.c",
                                          "void sum(const float* x, const float* y, float* z, long n) { for (long i = "
                                          "n; i-- > 0;) z[i] = y[i] + x[i]; }\n");
  const KernelOptions notation = text("def add(float(n) x, float(n) y) -> (z) { z(i) = x(i) + y(i) }");
  for (const auto& [a, b] : {std::pair(file(with), file(without)), std::pair(file(without), notation)}) {
    const KernelComparison found =
        bench::compare(this_machine, bench::read_pair(test::own_compiler(), a, b), brief({"n=100"}));
    CHECK(found.difference().empty());
    CHECK(found.outputs.at(0).elements == 100);
    CHECK(found.processes.size() == 4);
  }
}

TEST_CASE("kernels with other parameters cannot be compared, and the mismatch is told") {
  const KernelPair kernels = bench::read_pair(test::own_compiler(), text("def one(float(N) A) -> (B) { B(i) = A(i) }"),
                                              text("def two(float(N) A) -> (S) { S() +=! A(i) }"));
  const bench::CompareOptions options = brief({"N=4"});
  try {
    bench::compare(this_machine, kernels, options);
    FAIL("the results were compared");
  } catch (const OptionError& error) {
    CHECK(error.option() == Option::same_results);
    CHECK(std::string(error.what()) ==
          "A and B cannot be given the same inputs: one takes out f32[N] B where two takes out f32[] S");
  }
}

TEST_CASE("a mistake in the options of one kernel names that kernel") {
  const auto faulty = [](const KernelOptions& a, const KernelOptions& b) {
    try {
      (void)bench::read_pair(test::own_compiler(), a, b);
    } catch (const OptionError& error) {
      return error.kernel();
    }
    return KernelOfPair::none;
  };
  const KernelOptions right = text("def one(float(N) A) -> (B) { B(i) = A(i) }");
  KernelOptions with_knob = right;
  with_knob.schedule.knobs = {"rows=4"};
  const KernelOptions two = text(
      "def one(float(N) A) -> (B) { B(i) = A(i) }\n"
      "def two(float(N) A) -> (B) { B(i) = A(i) }");
  CHECK(faulty(with_knob, right) == KernelOfPair::a);
  CHECK(faulty(right, with_knob) == KernelOfPair::b);
  CHECK(faulty(right, two) == KernelOfPair::b);
  CHECK(faulty(right, right) == KernelOfPair::none);
}

TEST_CASE("a kernel that fails is an error of its own") {
  const test::Folder folder;
  const std::string fails = folder.file(
      "fails.c",
      "// ferry: i32 fails(in f32[n] x, out f32[n] y)\nint fails(const float* x, float* y, long n) { return 3; }\n");
  CHECK_THROWS_AS(
      bench::compare(this_machine, bench::read_pair(test::own_compiler(), file(fails), file(fails)), brief({"n=4"})),
      KernelFailed);
}

TEST_CASE("too few processes and a least effect that is none are refused before a session is opened") {
  const auto never = [](const ConnectOptions&) -> Device { throw std::logic_error("a session was opened"); };
  const KernelPair kernels = bench::read_pair(test::own_compiler(), work(10), work(10));
  bench::CompareOptions options = brief({"N=4,K=10"});
  for (const std::uint32_t processes : {0u, 2u, 1001u}) {
    options.processes = processes;
    const std::string expected = "expected 3 to 1,000 processes, got " + std::to_string(processes);
    CHECK_THROWS_WITH_AS(bench::compare(never, kernels, options), expected.c_str(), UsageError);
  }
  options.processes = 3;
  for (const double effect : {-0.1, std::nan("")}) {
    options.least_effect = effect;
    CHECK_THROWS_AS(bench::compare(never, kernels, options), UsageError);
  }
}

TEST_CASE("kernels that differ are right if one definition says so of every element of both") {
  KernelComparison found;
  found.has_one_definition = true;
  verify::OutputComparison& output = found.outputs.emplace_back();
  output.elements = 5;
  output.different = 2;
  output.first_difference = "y[3] 0.7 against 0";
  verify::CheckResult right;
  right.compared = right.elements = 5;
  found.checks = {{{right}, {right}}};
  CHECK(found.difference().empty());
  SUBCASE("the definition says nothing of one element") { found.checks[1][0].unchecked = 1; }
  SUBCASE("a sample was looked at") { found.checks[0][0].compared = 4; }
  SUBCASE("each has a definition of its own") { found.has_one_definition = false; }
  SUBCASE("one has none") { found.checks[0].clear(); }
  CHECK(found.difference() == "y[3] 0.7 against 0 (2 of 5 elements differ)");
}

TEST_CASE("samples that took no time are impossible, and are not left out") {
  Timing some, none;
  some.seconds = {2e-6, 2e-6, 2e-6};
  none.seconds = {1e-6, 0, 1e-6};
  CHECK(bench::paired_log_ratio(some, some) == 0);
  CHECK(std::isnan(bench::paired_log_ratio(some, none)));
  CHECK(std::isnan(bench::paired_log_ratio(Timing(), Timing())));
  KernelComparison found;
  found.processes = {{{}, {some, some}, 0}};
  CHECK(found.impossible().empty());
  found.processes.push_back({{}, {some, none}, std::nan("")});
  CHECK(found.impossible() == "1 of 3 samples of B took no time");
  found.processes[1].timings[0].seconds.clear();
  CHECK(found.impossible() == "a process has no samples of A");
}

TEST_CASE("a comparison that context switches disturbed, or an emulator ran, is warned of") {
  KernelComparison found;
  found.facts.facts.cpu_name = "emulated riscv64";
  found.processes.resize(1);
  found.processes[0].timings[0].switches = {1, 1, 0, 2};
  found.processes[0].timings[1].switches = {0, 1, 1, 0};
  CHECK(found.warnings() == std::vector<std::string>{"this device is emulated: its times mean nothing",
                                                     "5 of 8 samples hit by context switches"});
  found.processes[0].timings[0].switches[0] = 0;
  found.facts.facts.cpu_name = "a board";
  CHECK(found.warnings().empty());
}
