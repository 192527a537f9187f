#include "tests/unit/crosscompile/codegen/llvm/outcome.h"

#include "crosscompile/compile.h"
#include "crosscompile/ir/interpreter.h"
#include "tests/unit/crosscompile/codegen/llvm/compare.h"

#include <doctest/doctest.h>

#include <cstring>

namespace ferry::codegen_test {

std::vector<Outcome> interpret_cases(const std::vector<Case>& cases) {
  std::vector<Outcome> outcomes;
  for (const Case& one : cases) {
    Outcome outcome{0, one.arguments};
    std::vector<void*> pointers;
    for (Bytes& bytes : outcome.arguments) pointers.push_back(bytes.data());
    outcome.result = ir::interpret(one.function, pointers.data());
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

namespace {

// A function without such a workspace has an expression without code.
std::uint64_t workspace_bytes(const ManifestExpr& expr, const ir::Function& function, const Case& one) {
  if (expr.code.empty()) return 0;
  std::vector<std::int64_t> symbols(function.symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    std::memcpy(&symbols[i], one.arguments[function.parameters.size() + i].data(), sizeof(std::int64_t));
  }
  const auto value = evaluate(expr, symbols);
  REQUIRE_MESSAGE(value.is_ok(), value.status().message());
  return static_cast<std::uint64_t>(value.value());
}

}  // namespace

runner::Call call_of(const ir::Function& function, const Case& one) {
  const NativeCode code = native_code(describe_function(function)).value();
  return {code.symbol, workspace_bytes(code.call_workspace, function, one),
          workspace_bytes(code.thread_workspace, function, one), one.arguments};
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

std::string difference_of(const Case& one, const Outcome& expected, const Outcome& got, const std::string& arch) {
  std::string difference;
  if (got.result != expected.result) {
    difference = "expected the result " + std::to_string(expected.result) + ", got " + std::to_string(got.result);
  }
  for (std::size_t i = 0; i < one.function.parameters.size() && difference.empty(); ++i) {
    const ir::FunctionParameter& parameter = one.function.parameters[i];
    if (parameter.kind != ParameterKind::tensor) continue;
    const Tolerance tolerance{one.ulps, one.any_zero, one.flushed && arch == "armv7"};
    difference = first_difference(parameter.buffer->dtype, expected.arguments[i], got.arguments[i], tolerance);
    if (!difference.empty()) difference = "'" + parameter.name + "': " + difference;
  }
  return difference;
}

}  // namespace ferry::codegen_test
