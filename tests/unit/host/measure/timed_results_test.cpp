// Tests of kernels that compute what they should when they are called once, and not when they are timed.
#include "host/measure/timed_results.h"

#include <doctest/doctest.h>

#include "host/client/contents.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/compare.h"
#include "host/measure/measure.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kHalf = "for (long i = 0; i < n; ++i) y[i] = x[i] * 0.5f;";

struct Cheat {
  const char* name;
  std::string body;
  const char* mistake;  // a part of the sentence
};

// Bodies of `void f(const float* x, float* y, long n)`.
std::vector<Cheat> cheats() {
  return {
      {"it returns early after its first call", "static int calls; if (calls++) return;" + kHalf, "did not write all"},
      {"it computes once, and then the first element alone",
       "static int calls; if (calls++) { y[0] = x[0] * 0.5f; return; }" + kHalf, "did not write all"},
      {"it writes zeros from the third call on",
       "static int calls; if (calls++ > 1) { for (long i = 0; i < n; ++i) y[i] = 0; return; }" + kHalf,
       "after the timed calls, and"},
      {"every third call is a cheap one",
       "static int calls; if (calls++ % 3) { for (long i = 0; i < n; ++i) y[i] = 1; return; }" + kHalf, ""},
      {"it adds to its output, which was zero in the first call", "for (long i = 0; i < n; ++i) y[i] += x[i] * 0.5f;",
       ""},
      {"it writes to its input", kHalf + "((float*)x)[n / 2] = 0;", "x, which it only reads, has other contents"},
      {"it computes only the numbers that are not 0 already",
       "for (long i = 0; i < n; ++i) if (x[i] > 0) y[i] = x[i] * 0.5f;", ""},
  };
}

std::string source(const std::string& body) {
  return "// ferry: f(in f32[n] x, out f32[n] y)\nvoid f(const float* x, float* y, long n) {\n" + body + "\n}\n";
}

KernelOptions file(const std::string& name) {
  KernelOptions options;
  options.file = name;
  return options;
}

// Samples of one call, so that nothing is left open.
BenchOptions single_calls() { return {.number = 1, .repeat = 10, .min_repeat_ms = 0, .warmup_ms = 0.1, .threads = 1}; }

bench::KernelComparison compared(const KernelOptions& a, const KernelOptions& b, const std::vector<std::string>& sizes,
                                 double warmup_ms = 0.1, std::uint32_t processes = 3) {
  bench::CompareOptions options;
  options.call.sizes = sizes;
  options.processes = processes;
  options.sampling.bench = single_calls();
  options.sampling.bench.warmup_ms = warmup_ms;
  return bench::compare([](const ConnectOptions& connection) { return local_device(connection); },
                        bench::read_pair(test::own_compiler(), a, b), options);
}

std::string mistake_of_bench(const KernelOptions& options, const std::vector<std::string>& sizes, bool check) {
  bench::MeasuredKernel kernel{read_kernel(test::own_compiler(), options)};
  kernel.call.sizes = sizes;
  bench::MeasureOptions how;
  how.sampling.bench = single_calls();
  how.peak = false;
  if (check) {
    KernelOptions definition;
    definition.expression = "def f(float(n) x) -> (y) { y(i) = x(i) * 0.5 }";
    kernel.reference = read_kernel(test::own_compiler(), definition);
  }
  try {
    (void)bench::measure(local_device(), kernel, how);
  } catch (const Error& failed) {
    return failed.what();
  }
  return {};
}

// It knows timed calls by how many elements are small, since the device draws new contents by making those given
// smaller, and computes something else then, but the same in any process. Of the elements given, half are from -1 to 1.
const std::string kKnowsNewInputs =
    "long small = 0; for (long i = 0; i < n; ++i) small += x[i] > -1 && x[i] < 1;"
    "for (long i = 0; i < n; ++i) y[i] = x[i] * (small > 0.527f * n ? 0.25f : 0.5f);";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Where kernels are isolated, their inputs are read-only, and a write ends them; and each is compared with itself in a
// second process.
bool tells_of(const std::string& mistake, const Cheat& cheat) {
  return contains(mistake, cheat.mistake) || (contains(cheat.body, "((float*)x)") && contains(mistake, "SIGSEGV")) ||
         contains(mistake, "computed something else than a second process");
}

// Returns what is wrong with two kernels, by which there is no verdict.
std::string mistake_of_comparison(const KernelOptions& a, const KernelOptions& b) {
  try {
    const bench::KernelComparison found = compared(a, b, {"n=5000"});
    CHECK(found.times.verdict == stats::Verdict::unknown);
    return found.difference() + found.timed_mistake();
  } catch (const Error& failed) {
    return failed.what();
  }
}

}  // namespace

TEST_CASE("compare has no verdict about a kernel that cheats when it is timed, as A and as B") {
  const test::Folder folder;
  const KernelOptions honest = file(folder.file("honest.c", source(kHalf)));
  for (const Cheat& cheat : cheats()) {
    CAPTURE(cheat.name);
    const KernelOptions hostile = file(folder.file("hostile.c", source(cheat.body)));
    for (const bool is_a : {true, false}) {
      const std::string mistake =
          is_a ? mistake_of_comparison(hostile, honest) : mistake_of_comparison(honest, hostile);
      CAPTURE(mistake);
      CHECK_FALSE(mistake.empty());
      CHECK(tells_of(mistake, cheat));
    }
  }
}

TEST_CASE("two kernels that cheat in the same way are found out too") {
  const test::Folder folder;
  for (const Cheat& cheat : cheats()) {
    CAPTURE(cheat.name);
    const KernelOptions hostile = file(folder.file("hostile.c", source(cheat.body)));
    CHECK_FALSE(mistake_of_comparison(hostile, hostile).empty());
  }
}

TEST_CASE("bench has no time of a kernel that cheats, also without a check where its outputs tell") {
  const test::Folder folder;
  for (const Cheat& cheat : cheats()) {
    CAPTURE(cheat.name);
    const KernelOptions hostile = file(folder.file("hostile.c", source(cheat.body)));
    const std::string mistake = mistake_of_bench(hostile, {"n=5000"}, true);
    CAPTURE(mistake);
    CHECK(tells_of(mistake, cheat));
    CHECK_FALSE(mistake.empty());
  }
  const KernelOptions early = file(folder.file("early.c", source(cheats()[0].body)));
  CHECK(contains(mistake_of_bench(early, {"n=5000"}, false), "f, n=5000: wrong timed calls: "));
  const KernelOptions writes = file(folder.file("writes.c", source(cheats()[5].body)));
  CHECK(tells_of(mistake_of_bench(writes, {"n=5000"}, false), cheats()[5]));
}

TEST_CASE("honest kernels pass, of every size and with tensors that they read and write") {
  const test::Folder folder;
  const KernelOptions half = file(folder.file("half.c", source(kHalf)));
  // A sum in another order.
  const KernelOptions a = file(folder.file("a.c",
                                           "// ferry: f(in f32[n] x, inout f32[n] y, out f32[] s)\nvoid f(const float* "
                                           "x, float* y, float* s, long n) { *s = "
                                           "0; for (long i = 0; i < n; ++i) { y[i] += x[i]; *s += y[i]; } }\n"));
  const KernelOptions b = file(folder.file("b.c",
                                           "// ferry: f(in f32[n] x, inout f32[n] y, out f32[] s)\nvoid f(const float* "
                                           "x, float* y, float* s, long n) { *s = "
                                           "0; for (long i = n; i-- > 0;) { y[i] += x[i]; *s += y[i]; } }\n"));
  for (const char* size : {"n=0", "n=1", "n=17", "n=300000"}) {
    CAPTURE(size);
    const bench::KernelComparison found = compared(half, half, {size});
    CHECK(found.difference() == "");
    CHECK(found.timed_mistake() == "");
    CHECK(mistake_of_bench(half, {size}, true) == "");
    const bench::KernelComparison sums = compared(a, b, {size});
    CHECK(sums.difference() == "");
    CHECK(sums.timed_mistake() == "");
  }
}

TEST_CASE("an output of one byte is written by every sample, whatever bytes were there") {
  bench::MeasuredKernel kernel;
  KernelOptions definition;
  definition.expression = "def f(uint8(n) x) -> (y) { y(i) = x(i) / 2 }";
  kernel.source = read_kernel(test::own_compiler(), definition);
  kernel.call.sizes = {"n=1"};
  bench::MeasureOptions how;
  how.sampling.bench = single_calls();
  how.sampling.bench.repeat = 2000;
  how.peak = false;
  CHECK_NOTHROW((void)bench::measure(local_device(), kernel, how));
}

TEST_CASE("a kernel that adds to a tensor is measured with its contents restored before each sample") {
  const test::Folder folder;
  // It overflows to infinity, and takes the branch, unless the tensor is restored.
  const KernelOptions doubles = file(folder.file(
      "d.c",
      "// ferry: f(inout f32[n] y)\nint f(float* y, long n) { for (long i = 0; i < n; ++i) { y[i] *= 1e10f; if "
      "(__builtin_isinf(y[i])) return 1; } return 0; }\n"));
  CHECK(compared(doubles, doubles, {"n=64"}, 0).timed_mistake() == "");
}

TEST_CASE("kernels whose results are not compared may do what they like") {
  const test::Folder folder;
  const KernelOptions early = file(folder.file("early.c", source(cheats()[0].body)));
  bench::CompareOptions options;
  options.call.sizes = {"n=5000"};
  options.processes = 3;
  options.sampling.bench = single_calls();
  options.compares_results = false;
  const bench::KernelComparison found =
      bench::compare([](const ConnectOptions& connection) { return local_device(connection); },
                     bench::read_pair(test::own_compiler(), early, early), options);
  CHECK(found.timed_mistake() == "");
  CHECK_FALSE(found.processes.front().timings[0].inspected);
}

TEST_CASE("a text says what samples of several calls leave open") {
  Timing timing;
  timing.seconds = {1, 2, 3};
  timing.number = 1;
  CHECK(bench::looked_at_text(timing) == "all 3 samples wrote their outputs");
  timing.number = 1200;
  CHECK(bench::looked_at_text(timing) ==
        "all 3 samples wrote their outputs; of the 1,200 calls of a sample, that shows one");
}

TEST_CASE("of a server that does not look at outputs, a sentence says that they were not checked") {
  const Device device = local_device();
  FunctionInfo info;
  info.parameters.resize(1);
  info.parameters[0].direction = Direction::out;
  const bench::TimedResultsCheck check(info, {device.filled(DType::f32, {4}, FillKind::zeros)});
  Timing timing;
  timing.seconds = {1};
  const bench::TimedResults results = check.finish(timing, nullptr);
  CHECK(results.mistake == "");
  CHECK(results.unchecked == "the server is too old to look at what the timed calls compute, so that was not checked");
  timing.inspected = true;
  CHECK(check.finish(timing, nullptr).unchecked == "");
}

TEST_CASE("contents are compared and hashed on the device") {
  const Device device = local_device();
  const std::vector<float> numbers = {1, 2, 3, 4};
  const DeviceTensor a = device.put(view(numbers, {4})), b = device.put(view(numbers, {4}));
  CHECK(session::digest_of(a) == blake2b({reinterpret_cast<const std::uint8_t*>(numbers.data()), 16}));
  CHECK(session::compare_tensors(a, b, 0, 0)->different == 0);
  const std::vector<float> others = {3, 5};
  const auto found = session::compare_with(a, 2, {reinterpret_cast<const std::uint8_t*>(others.data()), 8}, 0.1, 0);
  CHECK(found->different == 1);
  CHECK(found->first == 1);
  CHECK(session::read_element(a, 3) == std::vector<std::uint8_t>{0, 0, 0x80, 0x40});
}

TEST_CASE("a kernel that computes something else for inputs that the device draws is found by one of the timed calls") {
  const test::Folder folder;
  const KernelOptions hostile = file(folder.file("hostile.c", source(kKnowsNewInputs)));
  const std::string alone = mistake_of_bench(hostile, {"n=8192"}, true);
  CHECK_MESSAGE(contains(alone, "timed calls: in one of them, y["), alone);
  const KernelOptions honest = file(folder.file("honest.c", source(kHalf)));
  for (const bool is_a : {true, false}) {
    // One process does not always have a call of which it has the inputs of both.
    const bench::KernelComparison found =
        is_a ? compared(hostile, honest, {"n=8192"}, 0.1, 16) : compared(honest, hostile, {"n=8192"}, 0.1, 16);
    CHECK(found.times.verdict == stats::Verdict::unknown);
    CHECK_MESSAGE(contains(found.timed_mistake(), " after the timed calls ("), found.timed_mistake());
  }
  CHECK(mistake_of_bench(honest, {"n=8192"}, true).empty());
}
