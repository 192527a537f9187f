// Runs the same programs as OpenCL C on this machine's CPU, each kernel with one thread: C's operators, conversions and
// functions must mean the same in OpenCL.
#include <doctest/doctest.h>

#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/call.h"
#include "tests/fuzz/cases/run_case.h"
#include "tests/paths.h"
#include "tests/unit/crosscompile/codegen/printed/opencl_device.h"

#include <algorithm>
#include <cstdlib>

using namespace ferry;
using namespace ferry::fuzz;

namespace {

constexpr std::uint64_t kFirst = 9101;
constexpr std::uint64_t kCases = 24;

bool has_strides(const FuzzCase& fuzz_case) {
  return std::any_of(fuzz_case.inputs.begin(), fuzz_case.inputs.end(),
                     [](const InputTensor& input) { return !input.strides.empty(); });
}

}  // namespace

TEST_CASE("random programs compute in OpenCL C what the reference evaluator says") {
  setenv("POCL_CACHE_DIR", FERRY_BINARY_DIR "/pocl", 0);
  const Target target = resolve_target("opencl");
  int run = 0;
  for (std::uint64_t seed = kFirst; seed < kFirst + kCases; ++seed) {
    const auto [fuzz_case, outcome] = run_seed(seed);
    if (outcome.kind == "outside") continue;
    REQUIRE_MESSAGE(outcome.kind == "ok", outcome.step << ": " << outcome.message << "\n" << as_test(fuzz_case));
    if (has_strides(fuzz_case)) continue;
    const lang::Program program = lang::parse(source_of(fuzz_case), "case.tc").at(0);
    const ir::Function lowered = lower::lower(program, schedule::Schedule::replay(program, schedule_of(fuzz_case)));
    const Call call(lowered, fuzz_case.sizes, fuzz_case.seed);
    const Expectation expectation(program, call);
    ir::Function function;
    std::string text;
    try {
      function = passes::run_pipeline(lowered, target);
      text = codegen::emit_source(std::span(&function, 1), target, codegen::source::Language::opencl);
    } catch (const CompileError&) {
      continue;  // workspace of the call inside a kernel, or a check
    }
    ++run;
    CHECK_NOTHROW(codegen_test::run_opencl(text, function, fuzz_case.sizes, call.pointers()));
    const std::string wrong = expectation.difference(call);
    CHECK_MESSAGE(wrong.empty(), wrong << "\n" << as_test(fuzz_case) << "\n" << text);
  }
  CHECK(run > static_cast<int>(kCases) / 2);
}
