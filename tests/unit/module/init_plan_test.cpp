// Init plans that are made of a function of their own, as the compiler and files of earlier versions have them.
#include "module/init_plan.h"

#include <doctest/doctest.h>

#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

// mm(A, B, C, P), where the init function computes P[N, K] from B.
FunctionInfo call_with_packed() {
  FunctionInfo mm = sample_mm();
  mm.parameters.push_back(
      {"P", ParameterKind::tensor, DType::f32, Direction::in, {manifest_symbol(2), manifest_symbol(1)}, {}});
  set_native_code(mm, {"mm", {}, {}});
  mm.messages = {"reason of mm"};
  return mm;
}

// init(B, P), whose sizes are in another order than those of mm.
FunctionInfo init_of_packed() {
  const ManifestExpr n = manifest_symbol(0), k = manifest_symbol(1);
  FunctionInfo init;
  init.name = "init";
  init.symbols = {"N", "K"};
  init.parameters = {{"B", ParameterKind::tensor, DType::f32, Direction::in, {k, n}, {}},
                     {"P", ParameterKind::tensor, DType::f32, Direction::out, {n, k}, {}}};
  init.messages = {"reason of init"};
  set_native_code(init, {"init", manifest_apply(ManifestOp::mul, {n, manifest_constant(8)}),
                         manifest_apply(ManifestOp::add, {k, manifest_constant(3)})});
  return init;
}

// Returns the function with its init plan in place of its plan, for step_text().
FunctionInfo shown_init(FunctionInfo function) {
  function.plan = function.init;
  return function;
}

std::string refusal(FunctionInfo function, FunctionInfo init) {
  const Status status = attach_init_plan(function, std::move(init));
  CHECK(status.code() == ErrorCode::invalid_argument);
  return status.message();
}

TEST_CASE("the last parameters become persistent buffers, and what they are computed from constants") {
  FunctionInfo mm = call_with_packed();
  REQUIRE(attach_init_plan(mm, init_of_packed()).is_ok());
  CHECK(signature_text(mm) == "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
  CHECK_FALSE(mm.parameters[0].is_constant);
  CHECK(mm.parameters[1].is_constant);
  CHECK(step_text(mm, mm.plan.steps.at(0)) == "call mm(A, B, C, persistent 0, M, K, N)");
  const FunctionInfo init = shown_init(mm);
  CHECK(step_text(init, init.plan.steps.at(0)) ==
        "call init(B, persistent 0, N, K) with workspace 0 with K + 3 bytes a thread");
  CHECK(value_text(init, init.plan.workspaces.at(0).bytes) == "N * 8");
  REQUIRE(mm.persistent.size() == 1);
  CHECK(value_text(init, mm.persistent[0].bytes) == "4 * N * K");
  CHECK(mm.messages == std::vector<std::string>{"reason of mm", "reason of init"});
  CHECK(std::get<CallStep>(mm.init.steps[0]).first_message == 1);
  CHECK(needs_instance(mm));
  Manifest manifest = sample_manifest();
  manifest.functions = {mm};
  CHECK(check_manifest(manifest).is_ok());
}

TEST_CASE("messages that both have are not repeated") {
  FunctionInfo mm = call_with_packed(), init = init_of_packed();
  init.messages = mm.messages;
  REQUIRE(attach_init_plan(mm, init).is_ok());
  CHECK(mm.messages.size() == 1);
  CHECK(std::get<CallStep>(mm.init.steps[0]).first_message == 0);
}

TEST_CASE("copies, fills and launches of an init function are renumbered as calls are") {
  FunctionInfo mm = call_with_packed(), init = init_of_packed();
  const ValueIndex bytes =
      add_value(init.plan, 2, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_symbol(1)}));
  init.plan.workspaces = {{0, bytes}};
  LaunchStep launch;
  launch.kernel = "pack";
  launch.grid = {0, bytes, kNoValue};
  launch.operands = {
      {OperandKind::argument, 0, kNoValue}, {OperandKind::argument, 1, bytes}, {OperandKind::value, 1, kNoValue}};
  launch.result = {0, kNoValue};
  init.plan.steps = {CopyStep{{OperandKind::workspace, 0, kNoValue}, {OperandKind::argument, 0, kNoValue}, bytes},
                     FillStep{{OperandKind::argument, 1, kNoValue}, bytes, 1, 0}, launch};
  REQUIRE(attach_init_plan(mm, init).is_ok());
  const FunctionInfo shown = shown_init(mm);
  CHECK(step_text(shown, shown.plan.steps.at(0)) == "copy N * K bytes to workspace 0 from B");
  CHECK(step_text(shown, shown.plan.steps.at(1)) == "fill N * K bytes of persistent 0");
  CHECK(step_text(shown, shown.plan.steps.at(2)) == "launch pack[N, N * K, 1][1, 1, 1](B, persistent 0 + N * K, K)");
}

TEST_CASE("a size that would be too long for one expression is computed in parts") {
  FunctionInfo mm = call_with_packed();
  ManifestExpr large = manifest_symbol(1);
  for (int i = 0; i < 100; ++i) large = manifest_apply(ManifestOp::add, {large, manifest_constant(1)});
  mm.parameters[3].shape = {large, large};
  REQUIRE(attach_init_plan(mm, init_of_packed()).is_ok());
  Manifest manifest = sample_manifest();
  manifest.functions = {mm};
  CHECK(check_manifest(manifest).is_ok());
  CHECK(mm.init.values.size() >= 4);
}

TEST_CASE("an init function that does not fit its function is refused, naming the parameter") {
  const FunctionInfo mm = call_with_packed(), init = init_of_packed();
  FunctionInfo unknown = init;
  unknown.parameters[0].name = "W";
  CHECK(refusal(mm, unknown) == "init: expected inputs of mm and then what its last parameters are, got 'W'");
  CHECK(refusal(sample_mm(), init).find("got 'P'") != std::string::npos);
  FunctionInfo written = mm;
  written.parameters[3].direction = Direction::inout;
  CHECK(refusal(written, init).find("got 'P'") != std::string::npos);
  FunctionInfo strided = mm;
  strided.parameters[3].strides = {manifest_symbol(1), manifest_constant(1)};
  CHECK(refusal(strided, init).find("got 'P'") != std::string::npos);
  for (const auto change :
       {+[](ParameterInfo& b) { b.kind = ParameterKind::scalar; },
        +[](ParameterInfo& b) { b.direction = Direction::inout; }, +[](ParameterInfo& b) { b.dtype = DType::f64; }}) {
    FunctionInfo other = init;
    change(other.parameters[0]);
    CHECK(refusal(mm, other).find("got 'B'") != std::string::npos);
  }
  FunctionInfo sizes = init;
  sizes.symbols[0] = "L";
  CHECK(refusal(mm, sizes).find("got 'L'") != std::string::npos);
  FunctionInfo outputs = init;
  outputs.parameters.resize(9, outputs.parameters[1]);
  CHECK(refusal(mm, outputs).find("got 'P'") != std::string::npos);
}

}  // namespace
}  // namespace ferry
