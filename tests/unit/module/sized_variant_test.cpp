#include "module/sized_variant.h"

#include "module/manifest.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ferry;

namespace {

ManifestExpr symbol(std::uint32_t index) { return manifest_symbol(index); }
ManifestExpr number(std::int64_t value) { return manifest_constant(value); }

ParameterInfo tensor(const std::string& name, Direction direction, std::vector<ManifestExpr> shape) {
  ParameterInfo parameter;
  parameter.name = name;
  parameter.direction = direction;
  parameter.shape = std::move(shape);
  return parameter;
}

// f(in f32[M,N] A, out f32[M] y) with a workspace of 4 M bytes for a call.
FunctionInfo general() {
  FunctionInfo function;
  function.name = "f";
  function.symbols = {"M", "N"};
  function.parameters = {tensor("A", Direction::in, {symbol(0), symbol(1)}), tensor("y", Direction::out, {symbol(0)})};
  function.messages = {"no rows"};
  set_native_code(function, {"ferry_fn_f", manifest_apply(ManifestOp::mul, {symbol(0), number(4)}), {}});
  return function;
}

FunctionInfo variant(std::int64_t m, std::int64_t n) {
  FunctionInfo function;
  function.name = "f_" + std::to_string(m);
  function.parameters = {tensor("A", Direction::in, {number(m), number(n)}), tensor("y", Direction::out, {number(m)})};
  function.messages = {"no columns", "no rows"};
  set_native_code(function, {"ferry_fn_" + function.name, number(1000), number(64)});
  return function;
}

Manifest manifest_of(FunctionInfo function) {
  Manifest manifest;
  manifest.devices = {{"cpu", "x86_64", {}}};
  manifest.functions = {std::move(function)};
  return manifest;
}

// The kernels that a call with these sizes runs, and the workspace of each.
struct Ran {
  std::vector<std::string> symbols;
  std::vector<std::uint32_t> first_messages;
  std::vector<std::int64_t> workspaces;
};

Ran run(const FunctionInfo& function, std::vector<std::int64_t> values) {
  for (const ManifestExpr& expr : function.plan.values) {
    const Result<std::int64_t> value = evaluate(expr, values);
    REQUIRE(value.is_ok());
    values.push_back(value.value());
  }
  Ran ran;
  for (const Workspace& workspace : function.plan.workspaces) ran.workspaces.push_back(values.at(workspace.bytes));
  for (std::size_t s = 0; s < function.plan.steps.size(); ++s) {
    if (const auto* repeat = std::get_if<RepeatStep>(&function.plan.steps[s])) {
      REQUIRE(values.at(repeat->count) <= 1);
      if (values.at(repeat->count) < 1) s += repeat->steps;
      continue;
    }
    const auto& call = std::get<CallStep>(function.plan.steps[s]);
    ran.symbols.push_back(call.symbol);
    ran.first_messages.push_back(call.first_message);
  }
  return ran;
}

// Adds a packed weight, of `bytes`, which a step of the init plan writes.
void add_init(FunctionInfo& function, ManifestExpr bytes) {
  function.parameters.insert(function.parameters.begin() + 1,
                             tensor("W", Direction::in, {function.parameters[0].shape[1]}));
  function.parameters[1].is_constant = true;
  FunctionInfo init = function;
  set_native_code(init, {"ferry_fn_init_" + function.name, {}, {}});
  const std::size_t symbols = function.symbols.size();
  function.init.values = {std::move(bytes)};
  function.persistent = {{0, static_cast<ValueIndex>(symbols)}};
  CallStep call;
  call.symbol = "ferry_fn_init_" + function.name;
  call.operands = {{OperandKind::argument, 1, kNoValue}, {OperandKind::persistent, 0, kNoValue}};
  function.init.steps = {call};
  std::get<CallStep>(function.plan.steps[0]).operands.push_back({OperandKind::persistent, 0, kNoValue});
}

}  // namespace

TEST_CASE("a plan calls the code for certain sizes exactly for these") {
  FunctionInfo function = general();
  REQUIRE(attach_variant(function, variant(8, 5), std::vector<std::int64_t>{8, 5}).is_ok());
  CHECK(check_manifest(manifest_of(function)).is_ok());
  CHECK(run(function, {8, 5}).symbols == std::vector<std::string>{"ferry_fn_f_8"});
  for (const std::vector<std::int64_t>& other : {std::vector<std::int64_t>{8, 6}, {7, 5}, {5, 8}, {0, 0}})
    CHECK(run(function, other).symbols == std::vector<std::string>{"ferry_fn_f"});
}

TEST_CASE("each code has its own messages and a workspace of its own size, in the same memory") {
  FunctionInfo function = general();
  REQUIRE(attach_variant(function, variant(8, 5), std::vector<std::int64_t>{8, 5}).is_ok());
  CHECK(function.messages == std::vector<std::string>{"no rows", "no columns", "no rows"});
  CHECK(run(function, {8, 5}).first_messages == std::vector<std::uint32_t>{1});
  CHECK(run(function, {9, 5}).first_messages == std::vector<std::uint32_t>{0});
  CHECK(run(function, {8, 5}).workspaces == std::vector<std::int64_t>{1000});
  CHECK(run(function, {9, 5}).workspaces == std::vector<std::int64_t>{36});
}

TEST_CASE("several sizes have code of their own") {
  FunctionInfo function = general();
  REQUIRE(attach_variant(function, variant(8, 5), std::vector<std::int64_t>{8, 5}).is_ok());
  REQUIRE(attach_variant(function, variant(16, 5), std::vector<std::int64_t>{16, 5}).is_ok());
  CHECK(check_manifest(manifest_of(function)).is_ok());
  CHECK(run(function, {8, 5}).symbols == std::vector<std::string>{"ferry_fn_f_8"});
  CHECK(run(function, {16, 5}).symbols == std::vector<std::string>{"ferry_fn_f_16"});
  CHECK(run(function, {4, 5}).symbols == std::vector<std::string>{"ferry_fn_f"});
}

TEST_CASE("an instance packs constants for both codes, and for certain sizes only where it has them") {
  FunctionInfo function = general(), sized = variant(8, 5);
  add_init(function, manifest_apply(ManifestOp::mul, {symbol(1), number(4)}));
  add_init(sized, number(640));
  REQUIRE(attach_variant(function, sized, std::vector<std::int64_t>{8, 5}).is_ok());
  REQUIRE(check_manifest(manifest_of(function)).is_ok());
  REQUIRE(function.persistent.size() == 2);
  FunctionInfo init = function;
  init.plan = function.init;
  CHECK(run(init, {8, 5}).symbols == std::vector<std::string>{"ferry_fn_init_f", "ferry_fn_init_f_8"});
  CHECK(run(init, {9, 5}).symbols.size() == 2);  // the constant does not say how many rows a call has
  CHECK(run(init, {8, 6}).symbols == std::vector<std::string>{"ferry_fn_init_f"});
  // Each code reads what its own step has written.
  std::vector<std::uint32_t> read;
  for (const Step& step : function.plan.steps)
    if (const auto* call = std::get_if<CallStep>(&step)) read.push_back(call->operands.back().index);
  CHECK(read == std::vector<std::uint32_t>{1, 0});
}

TEST_CASE("what is not the same function with all sizes fixed is refused") {
  const std::vector<std::int64_t> sizes{8, 5};
  FunctionInfo function = general();
  FunctionInfo open = variant(8, 5), other_type = open, fewer = open;
  open.symbols = {"M"};
  other_type.parameters[0].dtype = DType::f64;
  fewer.parameters.pop_back();
  for (const FunctionInfo& one : {open, other_type, fewer})
    CHECK(attach_variant(function, one, sizes).code() == ErrorCode::invalid_argument);
  CHECK_FALSE(attach_variant(function, variant(8, 5), std::vector<std::int64_t>{8}).is_ok());
  FunctionInfo fixed = variant(8, 5);
  CHECK_FALSE(attach_variant(fixed, variant(8, 5), {}).is_ok());
  CHECK(function == general());
}

TEST_CASE("a call of a function with several codes runs the steps of one") {
  FunctionInfo function = general();
  CHECK(most_steps_of_call(function.plan) == 1);
  REQUIRE(attach_variant(function, variant(8, 5), std::vector<std::int64_t>{8, 5}).is_ok());
  CHECK(function.plan.steps.size() == 4);
  CHECK(most_steps_of_call(function.plan) == 1);
  function.plan.steps.push_back(function.plan.steps.back());
  CHECK(most_steps_of_call(function.plan) == 2);
}
