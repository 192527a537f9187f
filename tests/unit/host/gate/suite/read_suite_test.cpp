// suite.toml: what it says.
#include "host/gate/suite/read_suite.h"

#include <doctest/doctest.h>

#include "tests/unit/host/gate/suite/schemes.h"

namespace ferry::test {
namespace {

using namespace gate;

// A suite with these lines in its only case, from line 3 on.
std::string with_case(const std::string& lines) { return "[cases.mm]\nkernel = 'mm.tc'\n" + lines; }

SuiteCase case_with(const std::string& lines, const std::string& before = "") {
  const Suite suite = parse_suite(before + with_case(lines), "suite.toml", kSchemes);
  REQUIRE(suite.cases.size() == 1);
  return suite.cases.front();
}

TEST_CASE("a case needs no more than a kernel") {
  const Suite suite = parse_suite(with_case(""), "project/suite.toml", kSchemes);
  CHECK(suite.file == "project/suite.toml");
  CHECK(suite.folder == "project");
  CHECK(suite.name == "project");
  CHECK(suite.error_level == 0.01);
  CHECK(suite.most_pairs == 64);
  CHECK(suite.unknown == UnknownPolicy::fail);
  CHECK(suite.boards.empty());
  REQUIRE(suite.cases.size() == 1);
  const SuiteCase& mm = suite.cases.front();
  CHECK(mm.name == "mm");
  CHECK(mm.line == 1);
  CHECK(mm.kernel.file == "project/mm.tc");
  CHECK(mm.kernel.function.empty());
  CHECK(mm.kernel.winograd);
  CHECK(mm.kernel.int8 == Int8Mode::automatic);
  CHECK(mm.call.sizes.empty());
  CHECK(mm.call.seed == 0);
  CHECK(mm.target.empty());
  CHECK(mm.tolerance == 0.02);
  CHECK(!mm.allow_difference);
  CHECK(!mm.results.rtol);
  CHECK(!mm.results.atol);
  CHECK(!mm.limits.seconds);
  CHECK(!mm.limits.bytes);
  CHECK(!mm.limits.share_of_peak);
  CHECK(mm.boards.empty());
}

TEST_CASE("a process takes little time unless its case says otherwise") {
  const BenchOptions bench = case_with("").sampling.bench;
  CHECK(bench.number == 0);
  CHECK(bench.repeat * bench.min_repeat_ms + bench.warmup_ms <= 30);
  CHECK(bench.timeout_ms == 10'000);
  CHECK(!bench.cold);
}

TEST_CASE("every key is read") {
  const Suite suite = parse_suite(R"toml(name = "vision"
error-level = "0.5%"
pairs = 32
cannot-tell = "pass"

[boards.pi]
remote = "farm://lab/rpi4"
[boards.here]
remote = "127.0.0.1:9090"
[boards.by-ssh]
remote = "ssh://me@pi"

[cases."mm 512"]
kernel = "kernels/mm.tc"
function = "mm"
sizes = ["M=512,N=512", "K=512"]
inputs = ["A=:normal", "B=@data/b.npy", "a=2"]
schedule = "mm.schedule"
knobs = ["rows=8", "columns=4"]
signature = "mm(in f32[n,n] A)"
fixed = "K=512"
bindings = ["shape=@/data/shape.npy"]
winograd = false
int8 = false
allow-difference = true
thorough = true
limits = { time = "3ms", bytes = "40K", flops = "50%" }
boards = ["pi", "here"]
was = "mm small"
tolerance = "1.5 %"
target = "aarch64"
cflags = "-O3 -ffast-math"
seed = 3
rtol = 1e-4
atol = 0
threads = 2
cores = "0,2-3"
cold = true
samples = 10
timeout = "1min"
)toml",
                                  "ci/gate/suite.toml", kSchemes);
  CHECK(suite.name == "vision");
  CHECK(suite.error_level == doctest::Approx(0.005));
  CHECK(suite.most_pairs == 32);
  CHECK(suite.unknown == UnknownPolicy::pass);
  REQUIRE(suite.boards.size() == 3);
  CHECK(suite.boards[0].name == "pi");
  CHECK(suite.boards[0].remote == "farm://lab/rpi4");
  CHECK(suite.boards[1].name == "here");
  CHECK(suite.boards[2].remote == "ssh://me@pi");
  REQUIRE(suite.cases.size() == 1);
  const SuiteCase& mm = suite.cases.front();
  CHECK(mm.name == "mm 512");
  CHECK(mm.line == 13);
  CHECK(mm.kernel.file == "ci/gate/kernels/mm.tc");
  CHECK(mm.kernel.function == "mm");
  CHECK(mm.kernel.schedule.file == "ci/gate/mm.schedule");
  CHECK(mm.kernel.schedule.knobs == std::vector<std::string>{"rows=8", "columns=4"});
  CHECK(mm.kernel.signature == "mm(in f32[n,n] A)");
  CHECK(mm.kernel.fixed == std::vector<std::string>{"K=512"});
  CHECK(mm.kernel.bindings == std::vector<std::string>{"shape=@/data/shape.npy"});
  CHECK(!mm.kernel.winograd);
  CHECK(mm.kernel.int8 == Int8Mode::off);
  CHECK(mm.kernel.c_flags == "-O3 -ffast-math");
  CHECK(mm.call.sizes == std::vector<std::string>{"M=512,N=512", "K=512"});
  CHECK(mm.call.arguments == std::vector<std::string>{"A=:normal", "B=@ci/gate/data/b.npy", "a=2"});
  CHECK(mm.call.seed == 3);
  CHECK(mm.target == "aarch64");
  CHECK(mm.tolerance == doctest::Approx(0.015));
  CHECK(mm.allow_difference);
  CHECK(mm.thorough);
  CHECK(mm.results.rtol.value() == 1e-4);
  CHECK(mm.results.atol.value() == 0);
  CHECK(mm.limits.seconds.value() == doctest::Approx(0.003));
  CHECK(mm.limits.bytes.value() == 40 * 1024);
  CHECK(mm.limits.share_of_peak.value() == 0.5);
  CHECK(mm.sampling.bench.threads == 2);
  CHECK(mm.sampling.bench.cores == std::vector<std::uint32_t>{0, 2, 3});
  CHECK(mm.sampling.bench.cold);
  CHECK(mm.sampling.bench.repeat == 10);
  CHECK(mm.sampling.bench.timeout_ms == 60'000);
  CHECK(mm.boards == std::vector<std::string>{"pi", "here"});
  CHECK(mm.was == "mm small");
}

TEST_CASE("what stands at the top holds for the cases that do not say otherwise") {
  const Suite suite = parse_suite(R"(tolerance = "5%"
target = "riscv64"
cflags = "-O2"
seed = 7
rtol = 1
atol = 2
threads = 1
cores = "big"
cold = true
samples = 5
timeout = "2s"
[cases.a]
kernel = "a.c"
[cases.b]
kernel = "b.c"
tolerance = "1%"
cores = "1"
cold = false
)",
                                  "suite.toml", kSchemes);
  REQUIRE(suite.cases.size() == 2);
  const SuiteCase &a = suite.cases[0], &b = suite.cases[1];
  CHECK(a.kernel.file == "a.c");
  CHECK(a.tolerance == 0.05);
  CHECK(a.target == "riscv64");
  CHECK(a.kernel.c_flags == "-O2");
  CHECK(a.call.seed == 7);
  CHECK(a.results.rtol == 1);
  CHECK(a.results.atol == 2);
  CHECK(a.sampling.bench.threads == 1);
  CHECK(a.sampling.cores == bench::CoreKind::big);
  CHECK(a.sampling.bench.cold);
  CHECK(a.sampling.bench.repeat == 5);
  CHECK(a.sampling.bench.timeout_ms == 2000);
  CHECK(b.tolerance == 0.01);
  CHECK(b.target == "riscv64");
  CHECK(b.sampling.cores == bench::CoreKind::any);
  CHECK(b.sampling.bench.cores == std::vector<std::uint32_t>{1});
  CHECK(!b.sampling.bench.cold);
}

TEST_CASE("cases and boards keep the order of the file") {
  const Suite suite = parse_suite(
      "cases.z = { kernel = 'z.tc' }\n[cases.m]\nkernel = 'm.tc'\n[boards.y]\nremote = 'y'\n[cases.a]\nkernel = "
      "'a.tc'\n"
      "[boards.b]\nremote = 'b'\n",
      "suite.toml", kSchemes);
  REQUIRE(suite.cases.size() == 3);
  CHECK(suite.cases[0].name == "z");
  CHECK(suite.cases[1].name == "m");
  CHECK(suite.cases[2].name == "a");
  CHECK(suite.cases[2].line == 6);
  CHECK(suite.boards[0].name == "y");
  CHECK(suite.boards[1].name == "b");
}

TEST_CASE("named schedules are no files") {
  CHECK(parse_suite(with_case("schedule = 'none'"), "x/suite.toml", kSchemes).cases[0].kernel.schedule.file == "none");
  CHECK(parse_suite(with_case("schedule = 'default'"), "x/suite.toml", kSchemes).cases[0].kernel.schedule.file ==
        "default");
  CHECK(parse_suite(with_case("schedule = 's'"), "/suite.toml", kSchemes).cases[0].kernel.schedule.file == "/s");
  CHECK(case_with("schedule = 's'").kernel.schedule.file == "s");
}

TEST_CASE("quantities may have several units") {
  CHECK(case_with("limits.time = '800ns'").limits.seconds.value() == doctest::Approx(8e-7));
  CHECK(case_with("limits.time = '1.5 us'").limits.seconds.value() == doctest::Approx(1.5e-6));
  CHECK(case_with("limits.time = '2 µs'").limits.seconds.value() == doctest::Approx(2e-6));
  CHECK(case_with("limits.time = '2s'").limits.seconds.value() == 2);
  CHECK(case_with("limits.bytes = 512").limits.bytes.value() == 512);
  CHECK(case_with("limits.bytes = '512'").limits.bytes.value() == 512);
  CHECK(case_with("limits.bytes = '1.5 KiB'").limits.bytes.value() == 1536);
  CHECK(case_with("limits.bytes = '2M'").limits.bytes.value() == 2 << 20);
  CHECK(case_with("limits.bytes = '1GiB'").limits.bytes.value() == 1 << 30);
  CHECK(case_with("limits.flops = '100%'").limits.share_of_peak.value() == 1);
  CHECK(case_with("tolerance = '0.001%'").tolerance == doctest::Approx(1e-5));
}

}  // namespace
}  // namespace ferry::test
