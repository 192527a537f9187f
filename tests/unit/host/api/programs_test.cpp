// Tests of what the library offers for programs that are built in C++.
#include <doctest/doctest.h>

#include <string>

#include "ferry/description.h"
#include "ferry/lang.h"
#include "ferry/measure.h"
#include "ferry/schedule.h"

using namespace ferry;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const char* const kThreads = "B: split i 64 -> o j\nB: bind o blockIdx.x\nB: bind j threadIdx.x";

lang::Program twice() { return lang::parse("def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }", "twice.tc").front(); }

}  // namespace

TEST_CASE("the loops and the source of a program are shown under its schedule") {
  const lang::Program program = twice();
  const schedule::Schedule schedule = schedule::Schedule::replay(program, kThreads);
  CHECK(contains(emit("schedule", program, schedule, target("cuda")), "bind o blockIdx.x"));
  CHECK(contains(emit("lower", program, schedule, target("cuda")), "blockIdx.x"));
  CHECK(contains(emit("cuda", program, schedule, target("cuda")), "__global__"));
  CHECK(contains(emit("opencl", program, schedule, target("opencl")), "__kernel"));
  const schedule::Schedule plain(program);
  CHECK(contains(emit("asm", program, plain, target("aarch64")), "twice"));
  CHECK(emit("lower", program, plain, target("host"), "vectorize") != "");
  CHECK_THROWS_AS(emit("loops", program, plain, target("host")), UsageError);
}

TEST_CASE("a program is checked thread by thread under its schedule") {
  const lang::Program program = twice();
  const schedule::Schedule schedule = schedule::Schedule::replay(program, kThreads);
  const verify::CheckReport report = check(program, schedule, ProgramCheck{{{}, {"N=100"}}, "", {}});
  CHECK(report.is_fine());
  CHECK(report.target.starts_with("opencl"));
  REQUIRE(report.findings.checks.size() == 1);
  CHECK(report.findings.checks.front().compared == 100);
  const lang::Program outside =
      lang::parse("def far(float(N) A, int(N) I) -> (B) { B(i) = A(I(i)) }", "far.tc").front();
  const verify::CheckReport wrong =
      check(outside, schedule::Schedule(outside), ProgramCheck{{{"I=:iota", "A=f32[4]"}, {"N=4"}}, "", {}});
  CHECK(wrong.is_fine());
  const verify::CheckReport beyond =
      check(outside, schedule::Schedule(outside), ProgramCheck{{{"I=i32[4]:uniform(4,9)"}, {}}, "", {}});
  CHECK_FALSE(beyond.mistake.empty());
}

TEST_CASE("functions of a module are described in plain types") {
  const CompiledModule module =
      compile("def conv(float(N) X, float(K) W, int s) -> (Y) { Y(i) +=! X(i+k) * W(k) * s }", target("host"));
  const std::vector<FunctionDescription> functions = describe(module);
  REQUIRE(functions.size() == 1);
  const FunctionDescription& conv = functions.front();
  CHECK(conv.name == "conv");
  CHECK(conv.signature.starts_with("conv(in f32[N] X, in f32[K] W, in i32 s, out f32["));
  CHECK(conv.sizes == std::vector<std::string>{"N", "K"});
  REQUIRE(conv.parameters.size() == 4);
  CHECK(conv.parameters[0].shape == std::vector<std::string>{"N"});
  CHECK(conv.parameters[0].is_read);
  CHECK_FALSE(conv.parameters[0].is_written);
  CHECK_FALSE(conv.parameters[2].is_tensor);
  CHECK(conv.parameters[3].is_written);
  CHECK_FALSE(conv.parameters[3].is_read);
  CHECK(describe_steps(module).empty());
}
