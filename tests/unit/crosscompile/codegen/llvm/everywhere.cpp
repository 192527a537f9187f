#include "tests/unit/crosscompile/codegen/llvm/everywhere.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/link/link.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "tests/unit/crosscompile/codegen/llvm/compare.h"
#include "tests/unit/crosscompile/codegen/llvm/runner/runner_files.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace ferry::codegen_test {
namespace {

struct Outcome {
  std::int32_t result = 0;
  std::vector<Bytes> arguments;
};

Outcome interpret_case(const Case& one) {
  Outcome outcome{0, one.arguments};
  std::vector<void*> pointers;
  for (Bytes& bytes : outcome.arguments) pointers.push_back(bytes.data());
  outcome.result = ir::interpret(one.function, pointers.data());
  return outcome;
}

std::uint64_t workspace_bytes(const ManifestExpr& expr, const ir::Function& function, const Case& one) {
  std::vector<std::int64_t> symbols(function.symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    std::memcpy(&symbols[i], one.arguments[function.parameters.size() + i].data(), sizeof(std::int64_t));
  }
  const auto value = evaluate(expr, symbols);
  REQUIRE_MESSAGE(value.is_ok(), value.status().message());
  return static_cast<std::uint64_t>(value.value());
}

// Runs a program to its end; its messages go where the test's go.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<Outcome> split_results(const std::vector<std::uint8_t>& bytes, const std::vector<Case>& cases) {
  std::vector<Outcome> outcomes;
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t count) {
    REQUIRE(count <= bytes.size() - at);
    std::memcpy(to, bytes.data() + at, count);
    at += count;
  };
  for (const Case& one : cases) {
    Outcome outcome;
    take(&outcome.result, sizeof outcome.result);
    for (const Bytes& argument : one.arguments) {
      outcome.arguments.emplace_back(argument.size());
      take(outcome.arguments.back().data(), argument.size());
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

std::vector<Outcome> run_compiled(const Variant& variant, const Target& target, const std::vector<Case>& cases,
                                  std::vector<ir::Function> functions, bool run_passes) {
  std::vector<runner::Call> calls;
  std::vector<std::string> exports;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (run_passes) functions[i] = passes::run_pipeline(functions[i], target);
    functions[i].name += "_" + std::to_string(i);
    const FunctionInfo info = describe(functions[i]);
    calls.push_back({info.symbol, workspace_bytes(info.call_workspace, functions[i], cases[i]),
                     workspace_bytes(info.thread_workspace, functions[i], cases[i]), cases[i].arguments});
    exports.push_back(info.symbol);
  }
  const link::TemporaryFolder folder;
  link::write_file(folder.file("image"), link::link_shared(codegen::emit_object(functions, target), target, exports));
  link::write_file(folder.file("cases"), runner::write_calls(calls));
  std::vector<std::string> command = variant.emulator;
  command.insert(command.end(),
                 {FERRY_RUNNERS + target.arch, folder.file("image"), folder.file("cases"), folder.file("results")});
  REQUIRE_MESSAGE(run_program(command) == 0, variant.target);
  return split_results(link::read_file(folder.file("results")), cases);
}

// Empty when the outcomes agree.
std::string difference_of(const Case& one, const Outcome& expected, const Outcome& got, const Target& target) {
  std::string difference;
  if (got.result != expected.result) {
    difference = "expected the result " + std::to_string(expected.result) + ", got " + std::to_string(got.result);
  }
  for (std::size_t i = 0; i < one.function.parameters.size() && difference.empty(); ++i) {
    const ir::FunctionParameter& parameter = one.function.parameters[i];
    if (parameter.kind != ParameterKind::tensor) continue;
    const Tolerance tolerance{one.ulps, one.any_zero, one.flushed && target.arch == "armv7"};
    difference = first_difference(parameter.buffer->dtype, expected.arguments[i], got.arguments[i], tolerance);
    if (!difference.empty()) difference = "'" + parameter.name + "': " + difference;
  }
  return difference;
}

}  // namespace

std::vector<Variant> all_variants() {
  std::vector<Variant> variants{
      {"x86-64", {}},
      {"armv7", {"qemu-arm", "-cpu", "cortex-a7"}},
      {"raspberry-pi-4", {"qemu-aarch64", "-cpu", "cortex-a72"}},
      {"llvm -mtriple=aarch64-linux-gnu -mattr=+fullfp16,+bf16", {"qemu-aarch64", "-cpu", "max"}},
      {"riscv64", {"qemu-riscv64", "-cpu", "rv64,v=false"}},
      {"riscv64-v", {"qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"}, false},
  };
  const Target host = resolve_target("host");
  for (const char* name : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = resolve_target(name);
    const bool runs_here = target.arch == host.arch && (target.has("avx512f") ? host.has("avx512f") : host.has("avx2"));
    if (runs_here) {
      variants.push_back({name, {}});
    } else {
      MESSAGE("not run: this machine is no ", name);
    }
  }
  return variants;
}

void check_on(const Variant& variant, const std::vector<Case>& all_cases, bool run_passes) {
  std::vector<Case> cases;
  for (const Case& one : all_cases) {
    if (!one.vector_float_to_int || variant.vector_float_to_int) cases.push_back(one);
  }
  if (cases.size() < all_cases.size()) {
    MESSAGE(variant.target, ": ", all_cases.size() - cases.size(),
            " cases are left out, which this emulator cannot run");
  }
  std::vector<ir::Function> functions;
  std::vector<Outcome> expected;
  for (const Case& one : cases) {
    functions.push_back(one.function);
    if (!run_passes) functions.back().flat = true;
    expected.push_back(interpret_case(one));
  }
  const Target target = resolve_target(variant.target);
  const std::vector<Outcome> got = run_compiled(variant, target, cases, std::move(functions), run_passes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string difference = difference_of(cases[i], expected[i], got[i], target);
    // A mistake usually shows in many cases; the first few say it all.
    if (difference.empty() || ++wrong > 3) continue;
    FAIL_CHECK(variant.target, ": ", difference, "\n", ir::to_text(cases[i].function));
  }
  CHECK_MESSAGE(wrong == 0, variant.target, ": ", wrong, " of ", cases.size(), " cases are wrong");
}

void check_everywhere(const std::vector<Case>& cases, bool run_passes) {
  for (const Variant& variant : all_variants()) check_on(variant, cases, run_passes);
}

}  // namespace ferry::codegen_test
