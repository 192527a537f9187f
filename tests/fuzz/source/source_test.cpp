// Runs some of the fuzzer's cases as printed C, compiled by gcc with sanitizers and by the cross compilers for
// emulators.
#include <doctest/doctest.h>

#include "crosscompile/codegen/source/source.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "host/lower/constant_stages.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/by_api.h"
#include "tests/fuzz/cases/call.h"
#include "tests/fuzz/cases/run_case.h"
#include "tests/unit/crosscompile/codegen/printed/printed_program.h"

#include <cstring>
#include <optional>

using namespace ferry;
using namespace ferry::fuzz;

namespace {

constexpr std::uint64_t kFirst = 9201;

runner::Bytes bytes_at(const void* data, std::size_t count) {
  const auto* first = static_cast<const unsigned char*>(data);
  return runner::Bytes(first, first + count);
}

// The operands of a function's native code.
const std::vector<Operand>& operands_of(const FunctionInfo& info) {
  return std::get<CallStep>(info.plan.steps.front()).operands;
}

// A program under a schedule as printed functions, and their calls.
struct Printed {
  FuzzCase fuzz_case;
  std::vector<ir::Function> functions;  // the init function of the first one is the second, if there is one
  std::vector<FunctionInfo> infos;
  std::unique_ptr<Call> call, init;
  std::unique_ptr<Expectation> expectation;

  std::size_t workspace(const ManifestExpr& bytes, const Call& of) const {
    return bytes.code.empty() ? 0 : static_cast<std::size_t>(evaluate(bytes, of.symbols()).value());
  }
  runner::Call call_of(std::size_t function, const Call& with) const {
    const NativeCode code = native_code(infos[function]).value();
    runner::Call made{code.symbol, workspace(code.call_workspace, with), workspace(code.thread_workspace, with), {}};
    for (const Operand& operand : operands_of(infos[function])) {
      if (operand.kind == OperandKind::value) {
        made.arguments.push_back(bytes_at(&with.symbols()[operand.index], sizeof(std::int64_t)));
        continue;
      }
      const GuardedMemory& memory = *with.arguments()[operand.index].memory;
      made.arguments.push_back(bytes_at(memory.data(), memory.size()));
    }
    return made;
  }
};

// Returns nothing for a program that is refused because it reads outside of a tensor.
std::optional<Printed> print_case(std::uint64_t seed) {
  const auto [fuzz_case, outcome] = run_seed(seed);
  if (outcome.kind == "outside") return std::nullopt;
  REQUIRE_MESSAGE(outcome.kind == "ok", outcome.step << ": " << outcome.message << "\n" << as_test(fuzz_case));
  Printed printed{fuzz_case, {}, {}, nullptr, nullptr, nullptr};
  const lang::Program program = program_of(fuzz_case);
  const ir::Function lowered = lower::lower(program, schedule::Schedule::replay(program, schedule_of(fuzz_case)));
  const Target target = resolve_target("c");
  for (ir::Function& function : lower::split_constants(lowered)) {
    printed.functions.push_back(passes::run_pipeline(std::move(function), target));
    // All cases are printed into one text, where init functions have the name of the function that they serve.
    ir::Function& last = printed.functions.back();
    last.name = "case_" + std::to_string(seed) + (printed.functions.size() > 1 ? "_init" : "");
    if (!last.init_of.empty()) last.init_of = "case_" + std::to_string(seed);
    printed.infos.push_back(describe_function(printed.functions.back()));
  }
  printed.call = std::make_unique<Call>(printed.functions[0], fuzz_case.sizes, fuzz_case.seed);
  printed.expectation = std::make_unique<Expectation>(program, Call(lowered, fuzz_case.sizes, fuzz_case.seed));
  if (printed.functions.size() > 1) {
    printed.init = std::make_unique<Call>(printed.functions[1], fuzz_case.sizes, fuzz_case.seed);
    printed.init->take_inputs(*printed.call);
  }
  return printed;
}

// Copies the results of a call into its arguments; returns where the next call's results begin in `results`.
std::size_t take_results(const std::vector<std::uint8_t>& results, std::size_t at, const Call& call,
                         const FunctionInfo& info, const FuzzCase& fuzz_case) {
  std::int32_t result = 0;
  std::memcpy(&result, results.data() + at, sizeof result);
  CHECK_MESSAGE(result == 0, "the call fails with " << result << "\n" << as_test(fuzz_case));
  at += sizeof result;
  for (const Operand& operand : operands_of(info)) {
    if (operand.kind == OperandKind::value) {
      at += sizeof(std::int64_t);
      continue;
    }
    const Argument& argument = call.arguments()[operand.index];
    if (argument.memory->size() > 0) std::memcpy(argument.memory->data(), results.data() + at, argument.memory->size());
    at += argument.memory->size();
  }
  return at;
}

void check_all(const test::CCompiler& compiler, std::uint64_t count) {
  std::vector<Printed> cases;
  std::vector<ir::Function> functions;
  std::vector<std::string> symbols;
  for (std::uint64_t seed = kFirst; seed < kFirst + count; ++seed) {
    std::optional<Printed> printed = print_case(seed);
    if (!printed) continue;
    cases.push_back(std::move(*printed));
    functions.insert(functions.end(), cases.back().functions.begin(), cases.back().functions.end());
    for (const FunctionInfo& info : cases.back().infos) symbols.push_back(native_code(info).value().symbol);
  }
  const Target target = resolve_target("c");
  const test::PrintedProgram program(compiler, codegen::emit_source(functions, target, codegen::source::Language::c),
                                     symbols);
  std::vector<runner::Call> calls;
  for (const Printed& one : cases)
    if (one.init) calls.push_back(one.call_of(1, *one.init));
  std::vector<std::uint8_t> results = program.run(calls);
  std::size_t at = 0;
  for (const Printed& one : cases) {
    if (!one.init) continue;
    at = take_results(results, at, *one.init, one.infos[1], one.fuzz_case);
    one.call->take_inputs(*one.init);
  }
  calls.clear();
  for (const Printed& one : cases) calls.push_back(one.call_of(0, *one.call));
  results = program.run(calls);
  at = 0;
  for (const Printed& one : cases) {
    at = take_results(results, at, *one.call, one.infos[0], one.fuzz_case);
    std::string wrong = one.expectation->difference(*one.call);
    if (wrong.empty()) wrong = one.call->damage();
    CHECK_MESSAGE(wrong.empty(), compiler.command[0]
                                     << ": " << wrong << "\n"
                                     << as_test(one.fuzz_case) << "\n"
                                     << codegen::emit_source(one.functions, target, codegen::source::Language::c));
  }
}

}  // namespace

TEST_CASE("random programs compute in C what the reference evaluator says, and nothing is undefined") {
  check_all(test::sanitizing_gcc(), 48);
}

TEST_CASE("random programs in C compute the same on 32-bit ARM, AArch64 and RISC-V") {
  for (const test::CCompiler& compiler : test::cross_gccs()) check_all(compiler, 6);
}
