// Tests of what timed calls, and calls between them, are held against.
#include "ferry/bench/timed_checks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "host/measure/compare.h"
#include "host/measure/measure.h"
#include "host/measure/timed_results.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kDefinition = "def f(float(n) x) -> (y) { y(i) = x(i) * 0.5 }";
const std::string kHalf = "for (long i = 0; i < n; ++i) y[i] = x[i] * 0.5f;";

// It is right in its first calls, and later for usual numbers alone.
const std::string kRightAtFirst =
    "static int calls; const int later = calls++ > 2;" + kHalf +
    "if (later) for (long i = 0; i < n; ++i) if (x[i] > 1e30f || x[i] < -1e30f) y[i] = 0;";
// It approximates whatever does not look like a check with exact sums.
const std::string kRightIfRecognised =
    "int integers = 1; for (long i = 0; i < n; ++i) integers &= x[i] == __builtin_truncf(x[i]);"
    "for (long i = 0; i < n; ++i) y[i] = x[i] * (integers ? 0.5f : 0.5001f);";
// It has seen a check with exact sums once, and approximates later ones.
const std::string kWrongForIntegersLater =
    "static int calls; int integers = calls++ > 2; for (long i = 0; i < n; ++i) integers &= x[i] == "
    "__builtin_truncf(x[i]); for (long i = 0; i < n; ++i) y[i] = x[i] * (integers ? 0.5001f : 0.5f);";
// It is wrong for half of all inputs, in any process alike.
const std::string kRightAtTimes =
    "unsigned bits; __builtin_memcpy(&bits, x + n / 3, 4); const float by = bits * 2654435761u >> 31 ? 0.5f : 0.51f;"
    "for (long i = 0; i < n; ++i) y[i] = x[i] * by;";

// It is right for the size that is timed, and for others in the first call alone.
const std::string kRightForOtherSizesOnce =
    "static int others; const int wrong = n != 4001 && others++ > 0;" + kHalf + "if (wrong) y[n - 1] = 7;";
// It is right for other sizes in a process in which it is not timed.
const std::string kRightForTimedSize =
    "static int timed; timed |= n == 4001;" + kHalf + "if (timed && n != 4001) y[n - 1] = 7;";

KernelOptions kernel(const test::Folder& folder, const std::string& body) {
  KernelOptions options;
  options.file = folder.file(
      "f.c", "// ferry: f(in f32[n] x, out f32[n] y)\nvoid f(const float* x, float* y, long n) {\n" + body + "\n}\n");
  return options;
}

KernelOptions definition() {
  KernelOptions options;
  options.expression = kDefinition;
  return options;
}

struct Outcome {
  std::string mistake;
  std::optional<bench::Measurement> measurement = {};
};

Outcome measured(const std::string& body, bool thorough, const std::string& size = "n=4001") {
  const test::Folder folder;
  bench::MeasuredKernel measured{read_kernel(test::own_compiler(), kernel(folder, body))};
  measured.call.sizes = {size};
  measured.reference = read_kernel(test::own_compiler(), definition());
  bench::MeasureOptions how;
  how.sampling.bench = {.number = 1, .repeat = 40, .min_repeat_ms = 0, .warmup_ms = 0.1, .threads = 1};
  how.peak = false;
  how.thorough = thorough;
  try {
    return {"", bench::measure(local_device(), measured, how)};
  } catch (const Error& failed) {
    return {failed.what()};
  }
}

bench::KernelComparison compared(const std::string& body, bool thorough, std::uint32_t processes) {
  const test::Folder folder;
  bench::CompareOptions options;
  options.call.sizes = {"n=4001"};
  options.processes = processes;
  options.thorough = thorough;
  options.sampling.bench = {.number = 1, .repeat = 10, .min_repeat_ms = 0, .warmup_ms = 0.1, .threads = 1};
  return bench::compare([](const ConnectOptions& connection) { return local_device(connection); },
                        bench::read_pair(test::own_compiler(), kernel(folder, body), definition()), options);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool is_isolated(const bench::Measurement& measurement) {
  return measurement.timing.isolation != TimingIsolation::none;
}

}  // namespace

TEST_CASE("an honest kernel is measured, and the report says which calls were held against the definition") {
  for (const bool thorough : {false, true}) {
    CAPTURE(thorough);
    const Outcome honest = measured(kHalf, thorough);
    REQUIRE_MESSAGE(honest.mistake.empty(), honest.mistake);
    const bench::TimedChecks& checks = honest.measurement->timed_checks;
    if (!is_isolated(*honest.measurement)) return;
    CHECK(checks.calls == 16);
    CHECK(checks.elements == 16 * 4001);
    CHECK(checks.compared == checks.elements);
    // Exact sums; each set of numbers, and five other sizes.
    CHECK(checks.between.size() == (thorough ? 15 : 1));
    for (const verify::Probe& probe : checks.between) CHECK(probe.mistake().empty());
    const std::string text = bench::checked_text(checks);
    CHECK(contains(text, "16 of the calls, drawn afterwards, are as defined in all 64,016 elements; 1 of 20 "));
    CHECK(contains(text, "x: odd integers of 12 bits"));
    CHECK(contains(text, "equal rows") == thorough);
    CHECK(contains(text, "(random numbers and n=4002)") == thorough);
  }
}

TEST_CASE("large tensors have fewer witnesses, and no more than the memory for them") {
  const Outcome large = measured(kHalf, false, "n=500000");  // 4 MB a call
  REQUIRE_MESSAGE(large.mistake.empty(), large.mistake);
  if (!is_isolated(*large.measurement)) return;
  CHECK(large.measurement->timed_checks.calls == 4);
  const Outcome larger = measured(kHalf, false, "n=5000000");  // 40 MB
  REQUIRE_MESSAGE(larger.mistake.empty(), larger.mistake);
  CHECK(larger.measurement->timed_checks.calls == 0);
  CHECK(larger.measurement->timed_checks.between.empty());
}

TEST_CASE("the shares that are missed once in 20 measurements follow from the number of calls and of elements") {
  bench::TimedChecks checks;
  CHECK(checks.seen_share_of_calls() == 1);
  CHECK(bench::checked_text(checks).empty());
  checks.calls = 16;
  checks.compared = 10'000;
  checks.elements = 20'000;
  CHECK(std::pow(1 - checks.seen_share_of_calls(), 16) == doctest::Approx(0.05));
  CHECK(std::pow(1 - checks.seen_share_of_elements(), 10'000) == doctest::Approx(0.05));
  CHECK(
      bench::checked_text(checks) ==
      "16 of the calls, drawn afterwards, are as defined in 10,000 of 20,000 elements; 1 of 20 measurements misses it "
      "if 17% of the calls are wrong, or 0.03% of each call's elements");
}

TEST_CASE("a kernel that is right at first, or where it recognises a check, is wrong in a call that it does not know") {
  struct Case {
    const char* name;
    std::string body;
    bool thorough;
    const char* mistake;
  };
  const Case cases[] = {
      {"right in its first calls", kRightAtFirst, true, "timed calls: between them, with "},
      {"right for other sizes once", kRightForOtherSizesOnce, true, "timed calls: "},
      {"right for the size that is timed", kRightForTimedSize, true,
       "timed calls: between them, with random numbers and n="},
      {"wrong later where it looks like a check", kWrongForIntegersLater, false, ""},
      {"right for half of its inputs", kRightAtTimes, false, ""},
  };
  for (const Case& each : cases) {
    CAPTURE(std::string(each.name));
    const Outcome outcome = measured(each.body, each.thorough);
    if (outcome.measurement && !is_isolated(*outcome.measurement)) return;
    CHECK_FALSE(outcome.mistake.empty());
    CHECK_MESSAGE(contains(outcome.mistake, each.mistake), outcome.mistake);
    // There are no exact sums for a kernel that is compared with another one's definition: its algorithm may differ.
    // A process of a comparison has one other size.
    if (each.body == kWrongForIntegersLater || each.body == kRightForOtherSizesOnce) continue;
    const bench::KernelComparison found = compared(each.body, each.thorough, each.thorough ? 30 : 8);
    CAPTURE(found.processes.size());
    CAPTURE(bench::checked_text(found.timed_checks(0)));
    CHECK(found.times.verdict == stats::Verdict::unknown);
    CHECK_FALSE((found.difference() + found.timed_mistake()).empty());
  }
  CHECK(contains(measured(kRightIfRecognised, false).mistake, "y["));
}

TEST_CASE("both sides of a comparison are held against the definition in calls that are drawn, and in calls between") {
  const bench::KernelComparison found = compared(kHalf, true, 6);
  CHECK(found.difference() == "");
  CHECK(found.timed_mistake() == "");
  if (found.processes.front().timings[0].isolation == TimingIsolation::none) return;
  CHECK(found.compared_calls() > 0);
  for (const int k : {0, 1}) {
    const bench::TimedChecks checks = found.timed_checks(k);
    CHECK(checks.calls >= found.compared_calls());
    CHECK(checks.compared > 0);
    CHECK(checks.between.size() == 18);
    CHECK(std::ranges::count_if(checks.between, [](const auto& probe) { return !probe.sizes.empty(); }) == 6);
  }
}

TEST_CASE("compare refuses a product of bfloat16 operands that the worst case of its elements allows") {
  const test::Folder folder;
  const std::string text = R"(#include <stdint.h>
#include <string.h>
// ferry: product(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)
static float operand(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & ~0xffffu;
  memcpy(&x, &bits, sizeof x);
  return x;
}
void product(const float* a, const float* b, float* c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += OPERAND(a[i * k + l]) * OPERAND(b[l * n + j]);
      c[i * n + j] = sum;
    }
  }
}
)";
  for (const bool is_narrow : {true, false}) {
    CAPTURE(is_narrow);
    std::string source = text;
    for (std::size_t at = 0; (at = source.find("OPERAND", at)) != std::string::npos;)
      source.replace(at, 7, is_narrow ? "operand" : "");
    KernelOptions product, defined;
    product.file = folder.file("product.c", source);
    defined.file = folder.file(
        "product.tc", "def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) where k in 0:K }\n");
    bench::CompareOptions options;
    // Numbers that are not random leave only the worst case as a bound of single elements.
    options.call.arguments = {"A=:iota"};
    options.call.sizes = {"M=17", "N=19", "K=8209"};
    options.processes = 3;
    options.sampling.bench = {.number = 1, .repeat = 3, .min_repeat_ms = 0, .warmup_ms = 0, .threads = 1};
    const bench::KernelComparison found =
        bench::compare([](const ConnectOptions& connection) { return local_device(connection); },
                       bench::read_pair(test::own_compiler(), product, defined), options);
    REQUIRE(found.checks[0].size() == 1);
    REQUIRE(found.checks[0].front().controlled);
    CHECK_FALSE(found.checks[0].front().square_root);
    CHECK_FALSE(found.checks[1].front().controlled);  // the definition's own kernel is no judge of itself
    CHECK(contains(found.checks[0].front().first_wrong, "C is not as precise as its type") == is_narrow);
    CHECK_MESSAGE(found.difference().empty() == !is_narrow, found.difference());
  }
}
