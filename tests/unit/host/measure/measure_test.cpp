// Tests of measuring kernels on a device of this machine, against times, counts and shares known from elsewhere.
#include "host/measure/measure.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "ferry/error.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/peak.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;
using bench::measure;
using bench::Measurement;

namespace {

const std::string kMatmul = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

// Five samples that together take a few milliseconds.
bench::MeasureOptions brief() {
  bench::MeasureOptions options;
  options.sampling.bench = {.number = 2, .repeat = 7, .min_repeat_ms = 0, .warmup_ms = 0};
  options.peak = false;
  return options;
}

bench::MeasuredKernel kernel(const std::string& text, const std::vector<std::string>& sizes) {
  KernelOptions options;
  options.expression = text;
  bench::MeasuredKernel kernel{read_kernel(test::own_compiler(), options)};
  kernel.call.sizes = sizes;
  return kernel;
}

bench::NamedDevice this_machine() {
  return {"this machine", [](const ConnectOptions& options) { return local_device(options); }};
}

struct Recorder {
  std::vector<std::string> messages, steps;

  Observer observer() {
    Observer observer;
    observer.message = [this](const std::string& line) { messages.push_back(line); };
    observer.step = [this](const std::string& what) {
      steps.push_back(what);
      return StepGuard();
    };
    return observer;
  }
};

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& what) {
    return what.what();
  }
}

}  // namespace

TEST_CASE("a kernel is measured with its operations, its traffic and as many samples as were asked for") {
  Recorder recorder;
  const Device device = local_device();
  const Measurement found = measure(device, kernel(kMatmul, {"M=8,N=16", "K=32"}), brief(), recorder.observer());
  CHECK(found.function.name == "mm");
  CHECK(found.function.signature == "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
  CHECK(found.function.sizes == Sizes{{"M", 8}, {"K", 32}, {"N", 16}});
  CHECK(found.flops == 2.0 * 8 * 16 * 32);
  CHECK(found.bytes == 4.0 * (8 * 32 + 32 * 16 + 8 * 16));
  CHECK(found.timing.seconds.size() == 7);
  CHECK(found.timing.number == 2);
  CHECK(found.flops_per_second() == doctest::Approx(found.flops / found.timing.median()));
  CHECK(found.interval().contains(found.timing.median()));
  CHECK(found.device == "this machine");
  CHECK(found.environment().at("load").before.has_value());
  CHECK(found.peak.flops == 0);
  CHECK_FALSE(found.share_of_flops().has_value());
  CHECK(std::count(recorder.steps.begin(), recorder.steps.end(), "measuring mm") == 1);
}

TEST_CASE("a loaded function is measured with arguments of the caller, as a kernel from a text is") {
  const Device device = local_device();
  const Module module = device.load(compile(kMatmul, target_of(device)));
  const std::vector<float> a(6), b(12);
  const Measurement found =
      measure(test::own_compiler(), device, module, "mm", {view(a, {2, 3}), view(b, {3, 4})}, brief());
  CHECK(found.flops == 2.0 * 2 * 3 * 4);
  CHECK(found.bytes == 4.0 * (6 + 12 + 8));
  CHECK(found.target == module.manifest().target);
  CHECK(found.timing.seconds.size() == 7);
}

TEST_CASE("a tensor that is read and written counts twice in the traffic, in a kernel in C too") {
  const test::Folder folder;
  const std::string file =
      folder.file("scale.c",
                  "// ferry: scale(inout f32[n] y, in f32[n] x)\n"
                  "void scale(float* y, const float* x, long n) { for (long i = 0; i < n; ++i) y[i] *= x[i]; }\n");
  KernelOptions options;
  options.file = file;
  bench::MeasuredKernel scale{read_kernel(test::own_compiler(), options)};
  scale.call.sizes = {"n=100"};
  const Measurement found = measure(local_device(), scale, brief());
  CHECK(found.bytes == 4 * 100 * 3);
  CHECK(found.flops == 0);
}

TEST_CASE("there is no peak for a kernel whose results are integers") {
  bench::MeasureOptions options = brief();
  options.peak = true;
  const Measurement found =
      measure(local_device(), kernel("def sum(int32(N) A) -> (S) { S() +=! A(i) }", {"N=100"}), options);
  CHECK(found.peak.flops == 0);
  CHECK(found.peak.bytes == 0);
}

TEST_CASE("the times are those of the kernel: ten times the work takes about ten times as long") {
  const Device device = local_device();
  const std::string work = "def work(float(N) A) -> (S) { S() +=! A(0) * k where k in 0:N }";
  const auto start = std::chrono::steady_clock::now();
  const Measurement much = measure(device, kernel(work, {"N=10000000"}), brief());
  const std::chrono::duration<double> outside = std::chrono::steady_clock::now() - start;
  const Measurement little = measure(device, kernel(work, {"N=1000000"}), brief());
  CHECK(much.timing.median() * 2 * 7 <= outside.count());
  CHECK(much.timing.minimum() > 5 * little.timing.minimum());
  CHECK(much.timing.minimum() < 20 * little.timing.minimum());
}

TEST_CASE("the peak is measured before and after, and no kernel exceeds it by much") {
  Recorder recorder;
  const Device device = local_device();
  bench::MeasureOptions options = brief();
  options.peak = true;
  options.sampling.bench.threads = 1;
  const Measurement found = measure(device, kernel(kMatmul, {"M=64,N=64,K=64"}), options, recorder.observer());
  // A multiply-add and a byte take less than 10 ns and more than a 1000th of one on every machine that runs tests.
  CHECK(found.peak.flops > 1e8);
  CHECK(found.peak.flops < 1e13);
  CHECK(found.peak.bytes > 1e8);
  CHECK(found.peak_dtype == DType::f32);
  REQUIRE(found.share_of_flops().has_value());
  CHECK(*found.share_of_flops() == doctest::Approx(found.flops / found.timing.median() / found.peak.flops));
  CHECK(std::count(recorder.steps.begin(), recorder.steps.end(), "measuring what the device can do at best") == 2);
  CHECK(bench::better({1, 5}, {2, 3}).flops == 2);
  CHECK(bench::better({1, 5}, {2, 3}).bytes == 5);
}

TEST_CASE("a share far above the peak and an emulated device are warned of") {
  Measurement found;
  found.timing.seconds.assign(40, 1e-3);
  found.timing.number = 1;
  found.facts.cpu_name = "emulated aarch64";
  found.facts.logical_cores = 1;
  found.flops = 1e6;
  found.bytes = 1e3;
  found.peak = {5e8, 1e9};
  CHECK(*found.share_of_flops() == doctest::Approx(2));
  CHECK(*found.share_of_bytes() == doctest::Approx(1e-3));
  CHECK(found.warnings() ==
        std::vector<std::string>{"this device is emulated: its times mean nothing",
                                 "200% of the peak of arithmetic: the peak was measured too low, or the compiler saves "
                                 "operations of the definition, so do not go by the share"});
}

TEST_CASE("steps above a peak are warned of in one sentence, which names the worst") {
  Measurement found;
  found.timing.seconds.assign(40, 1e-3);
  found.timing.number = 1;
  found.facts.logical_cores = 1;
  found.peak = {1e9, 1e9};
  const auto step = [](const char* node, double flops, double bytes) {
    StepTime time;
    time.node = node;
    time.seconds = {1e-3};
    time.flops = flops;
    time.bytes = bytes;
    return time;
  };
  found.steps = {step("/conv", 5e5, 1.04e6), step("/pool", 0, 1e5)};
  CHECK(found.warnings().empty());
  found.steps.push_back(step("/add", 0, 1.23e6));
  found.steps.push_back(step("/sum", 0, 1.88e6));
  CHECK(found.warnings() ==
        std::vector<std::string>{"2 steps exceed a peak, with 188% of a copy's rate for '/sum': its tensors lie in "
                                 "caches or are only used in part, or the peak was measured too low, so do not go by "
                                 "the share"});
}

TEST_CASE("a kernel is checked against its definition before it is measured, when that is asked for") {
  const Device device = local_device();
  bench::MeasureOptions options = brief();
  CHECK(measure(device, kernel(kMatmul, {"M=8,N=16,K=4"}), options).findings.checks.empty());
  options.check_definition = true;
  const Measurement found = measure(device, kernel(kMatmul, {"M=8,N=16,K=4"}), options);
  REQUIRE(found.findings.checks.size() == 1);
  CHECK(found.findings.checks[0].compared == 8 * 16);
  CHECK(found.findings.is_fine());
  CHECK(found.timing.seconds.size() == 7);
  const test::Folder folder;
  KernelOptions in_c;
  in_c.file = folder.file(
      "same.c",
      "// ferry: same(in f32[n] x, out f32[n] y)\nvoid same(const float* x, float* y, long n) { y[0] = x[0]; }\n");
  bench::MeasuredKernel same{read_kernel(test::own_compiler(), in_c)};
  same.call.sizes = {"n=1"};
  CHECK_THROWS_AS(measure(device, same, options), UsageError);
}

TEST_CASE("a kernel that computes something else than its reference is not measured, and the sweep goes on") {
  const test::Folder folder;
  KernelOptions in_c;
  in_c.file = folder.file("same.c",
                          "// ferry: same(in f32[n] x, out f32[n] y)\n"
                          "void same(const float* x, float* y, long n) {\n"
                          "  for (long i = 0; i < n; ++i) y[i] = i == 5 ? 7 : x[i];\n}\n");
  KernelOptions right;
  right.expression = "def same(float(n) x) -> (y) { y(i) = x(i) }";
  bench::MeasuredKernel same{read_kernel(test::own_compiler(), in_c)};
  same.reference = read_kernel(test::own_compiler(), right);
  Recorder recorder;
  const bench::NamedDevice device = this_machine();
  const std::vector<bench::Sweep> sweeps = {{"n", {"6", "5"}}};
  const bench::Measurements found =
      bench::measure_on(std::span(&device, 1), same, sweeps, brief(), recorder.observer());
  REQUIRE(found.done.size() == 1);
  CHECK(found.done[0].function.sizes == Sizes{{"n", 5}});
  CHECK(found.done[0].findings.checks.size() == 1);
  REQUIRE(found.failures.size() == 1);
  CHECK(std::count(recorder.steps.begin(), recorder.steps.end(), "measuring same") == 1);
  try {
    std::rethrow_exception(found.failures[0].error);
  } catch (const bench::WrongResult& error) {
    CHECK(error.measurement().function.sizes == Sizes{{"n", 6}});
    CHECK(error.measurement().timing.seconds.empty());
    CHECK(error.measurement().findings.checks.at(0).wrong == 1);
    CHECK(std::string(error.what()).starts_with("same, n=6: wrong result, so it was not measured: y[5] is 7"));
  }
}

TEST_CASE("every size of a sweep is measured in one session, which asks for what the kernel needs") {
  int sessions = 0;
  const bench::NamedDevice device{"counted", [&](const ConnectOptions& options) {
                                    ++sessions;
                                    CHECK(options.devices.empty());
                                    return local_device(options);
                                  }};
  const std::vector<bench::Sweep> sweeps = {{"K", {"1", "2", "8"}}};
  const bench::Measurements found =
      bench::measure_on(std::span(&device, 1), kernel(kMatmul, {"M=4,N=4"}), sweeps, brief());
  CHECK(sessions == 1);
  CHECK(found.failures.empty());
  REQUIRE(found.done.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(found.done[i].flops == 2.0 * 16 * std::vector{1, 2, 8}[i]);
}

TEST_CASE("a sweep over a knob compiles the kernel for each of its values, which the results name") {
  bench::MeasuredKernel scheduled = kernel(kMatmul, {"M=16,N=4,K=4"});
  scheduled.source.as_text()->schedule = ScheduleText{"split m $rows in {4,8} -> mo mi", {}, "mm.schedule"};
  const bench::NamedDevice device = this_machine();
  const std::vector<bench::Sweep> sweeps = {{"rows", {}}};
  const bench::Measurements found = bench::measure_on(std::span(&device, 1), scheduled, sweeps, brief());
  REQUIRE(found.failures.empty());
  REQUIRE(found.done.size() == 2);
  CHECK(found.done[0].knobs.at("rows") == "4");
  CHECK(found.done[1].knobs.at("rows") == "8");
}

TEST_CASE("a device that fails leaves the results of the others and its own earlier ones") {
  const std::vector<bench::NamedDevice> devices = {
      {"broken", [](const ConnectOptions&) -> Device { throw Error(ErrorCode::unavailable, "nobody is there"); }},
      this_machine()};
  // No device has 4 TB for a tensor.
  const std::vector<bench::Sweep> sweeps = {{"K", {"4", "1000000000000"}}};
  const bench::Measurements found = bench::measure_on(devices, kernel(kMatmul, {"M=4,N=4"}), sweeps, brief());
  CHECK(found.done.size() == 1);
  REQUIRE(found.failures.size() == 2);
  CHECK(found.failures[0].name == "broken");
  CHECK(message_of(found.failures[0].error) == "nobody is there");
  CHECK(found.failures[1].name == "this machine");
  CHECK(message_of(found.failures[1].error).find("expected at most") != std::string::npos);
}

TEST_CASE("a session that is lost before anything ran is opened again, which the observer hears of") {
  Recorder recorder;
  int sessions = 0;
  const bench::NamedDevice device{"flaky", [&](const ConnectOptions& options) {
                                    if (++sessions < 3) throw ConnectionLost("lost", true);
                                    return local_device(options);
                                  }};
  const bench::Measurements found =
      bench::measure_on(std::span(&device, 1), kernel(kMatmul, {"M=4,N=4,K=4"}), {}, brief(), recorder.observer());
  CHECK(found.done.size() == 1);
  CHECK(recorder.messages == std::vector<std::string>(2, "lost; nothing has run there yet, so trying again"));
  sessions = -10;
  CHECK(bench::measure_on(std::span(&device, 1), kernel(kMatmul, {"M=4,N=4,K=4"}), {}, brief()).failures.size() == 1);
}

TEST_CASE("no samples, a size that is missing and a kernel that fails are errors of the right kind") {
  const Device device = local_device();
  bench::MeasureOptions none = brief();
  none.sampling.bench.repeat = 0;
  const auto mm = kernel(kMatmul, {"M=4,N=4,K=4"});
  try {
    measure(device, mm, none);
    FAIL("no samples were accepted");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    CHECK(std::string(error.what()).find("repeat") != std::string::npos);
  }
  CHECK_THROWS_AS(measure(device, kernel(kMatmul, {"M=4"}), brief()), Error);
  CHECK_THROWS_AS(measure(nullptr, device, device.load(compile(kMatmul, target_of(device))), "mm", {}, brief()), Error);
  auto gather = kernel("def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) }", {"N=4,M=2"});
  gather.call.arguments = {"I=i32[2]:ones", "A=f32[1]"};
  gather.call.sizes.clear();
  CHECK_THROWS_AS(measure(device, gather, brief()), KernelFailed);
}
