// Tests the schedules for tensor cores: which products have them, and that every point compiles to the instruction and
// computes what the program says.
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "host/autoschedule/decisions.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/call.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace ferry;
using autoschedule::Decision;
using autoschedule::Point;

namespace {

constexpr const char* kGpu = "cuda -arch=sm_80";

// Decides with tensor cores, and with the candidates of the knobs of their tiles that `number` counts out.
autoschedule::DecidedSchedule decided(const lang::Program& program, std::optional<std::uint64_t> number) {
  const auto choose = [&](const Decision& decision) {
    std::map<std::string, autoschedule::KnobValue> values = decision.space.default_point().values();
    if (decision.rule == "gpu_tensor_cores") values["tensor_cores"] = {1};
    if (decision.rule == "gpu_warp_tiles" && number) {
      std::uint64_t rest = *number;
      for (const autoschedule::SpaceKnob& knob : decision.space.knobs) {
        values[knob.name] = knob.candidates[rest % knob.candidates.size()];
        rest /= knob.candidates.size();
      }
    }
    return Point(std::move(values));
  };
  return autoschedule::decide_schedule(program, resolve_target(kGpu), {}, choose);
}

std::uint64_t warp_points(const autoschedule::DecidedSchedule& decided) {
  for (const Decision& decision : decided.decisions)
    if (decision.rule == "gpu_warp_tiles") return decision.space.size();
  return 0;
}

bool offers_tensor_cores(const std::string& source, const std::string& target = kGpu) {
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  const auto all = autoschedule::decide_schedule(program, resolve_target(target), {}, autoschedule::choose_default);
  return std::ranges::any_of(all.decisions, [](const Decision& d) { return d.rule == "gpu_tensor_cores"; });
}

const std::vector<std::string> kSources = {
    "def f(float16(64,48) A, float16(48,96) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }",
    "def f(bfloat16(64,64) A, bfloat16(32,64) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(n,k)) }",
    "def f(float16(32,32) A, float16(32,32) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
    "def f(float16(32,64) A, float16(32,128) B) -> (C) { C(m,n) +=! float(A(k,m)) * float(B(k,n)) }",
    "def f(float16(2,32,32) A, float16(2,32,64) B, float(64) D) -> (Y) {\n"
    "  C(b,m,n) +=! float(A(b,m,k)) * float(B(b,k,n))\n  Y(b,m,n) = max(C(b,m,n) + D(n), 0)\n}"};

}  // namespace

TEST_CASE("every point for tensor cores compiles to their instruction and computes what the program says") {
  // One point in so many is compiled, and one in so many of these is run; in long tests all are compiled.
  const std::uint64_t step = std::getenv("FERRY_POINTS_ALL") != nullptr ? 1 : 17;
  constexpr std::uint64_t kRun = 4;
  for (const std::string& source : kSources) {
    INFO(source);
    const lang::Program program = lang::parse(source, "test.tc").at(0);
    const fuzz::Call inputs(lower::lower(program, schedule::Schedule(program)), {}, 1);
    const fuzz::Expectation expected(program, inputs);
    const std::uint64_t points = warp_points(decided(program, {}));
    REQUIRE(points > 0);
    for (std::uint64_t number = 0; number < points; number += step) {
      const schedule::Schedule schedule = decided(program, number).schedule;
      INFO(schedule.to_text());
      ir::Function compiled;
      REQUIRE_NOTHROW(compiled = passes::run_pipeline(lower::lower(program, schedule), resolve_target(kGpu)));
      CHECK(ir::to_text(compiled).find("mma_m16n8k16") != std::string::npos);
      if (number / step % kRun != 0) continue;
      fuzz::Call call(compiled, {}, 1);
      REQUIRE(ir::interpret(compiled, call.pointers()) == 0);
      CHECK(expected.difference(call) == "");
      CHECK(call.damage() == "");
    }
  }
}

TEST_CASE(
    "tensor cores are offered for products of narrow floats of fixed sizes that tiles divide, and used on demand") {
  const auto source = [](const std::string& type, const std::string& rows, const std::string& product) {
    return "def f(" + type + "(" + rows + ",64) A, " + type + "(64,96) B) -> (C) { C(m,n) +=! " + product + " }";
  };
  const std::string product = "float(A(m,k)) * float(B(k,n))";
  CHECK(offers_tensor_cores(source("float16", "64", product)));
  CHECK(offers_tensor_cores(source("bfloat16", "64", product)));
  CHECK_FALSE(offers_tensor_cores(source("float16", "M", product)));
  CHECK_FALSE(offers_tensor_cores(source("float16", "40", product)));
  CHECK_FALSE(offers_tensor_cores(source("float", "64", "A(m,k) * B(k,n)")));
  CHECK(offers_tensor_cores(source("float16", "64", "A(m,k) * B(k,n)")));  // summed up in float32
  CHECK_FALSE(offers_tensor_cores(source("float16", "64", product + " * 2.0")));
  CHECK_FALSE(offers_tensor_cores(source("float16", "64", product), "opencl"));
  CHECK_FALSE(offers_tensor_cores(source("float16", "64", product), "cuda -arch=sm_70"));
  const lang::Program program = lang::parse(source("float16", "64", product), "test.tc").at(0);
  const auto by_default =
      autoschedule::decide_schedule(program, resolve_target(kGpu), {}, autoschedule::choose_default).schedule;
  CHECK(by_default.to_text().find("tensorize") == std::string::npos);
}
