#include "tests/unit/device-runtime/support/mixed_module.h"

#include <doctest/doctest.h>

#include "tests/unit/device-runtime/support/gpu_module.h"
#include "tests/unit/device-runtime/support/test_module.h"

namespace ferry::test {
namespace {

constexpr Operand argument(std::uint32_t index) { return {OperandKind::argument, index, kNoValue}; }
constexpr Operand persistent(std::uint32_t index) { return {OperandKind::persistent, index, kNoValue}; }
constexpr Operand kCount{OperandKind::value, 0, kNoValue};

ValueIndex vector_bytes(Plan& plan) {
  return add_value(plan, 1, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}));
}

CallStep add_step(Operand a, Operand b, Operand c) {
  CallStep step;
  step.device = kCpu;
  step.symbol = "add";
  step.operands = {a, b, c, kCount};
  return step;
}

}  // namespace

ModuleFile mixed_module(ModuleFile gpu) {
  ModuleFile module = std::move(gpu);
  ModuleFile kit = kit_module();
  module.manifest.devices.push_back(kit.manifest.devices.front());
  for (CodeImage& image : kit.images) {
    image.device = kCpu;
    module.images.push_back(std::move(image));
  }
  FunctionInfo& f = module.manifest.functions.at(0);
  f.parameters.push_back(tensor_parameter("B", Direction::in));
  f.parameters.back().device = kCpu;
  const ValueIndex bytes = vector_bytes(f.plan);
  const Operand on_gpu{OperandKind::workspace, 0, constant_value(module, 256)};
  constexpr Operand on_cpu{OperandKind::workspace, 1, kNoValue}, sum{OperandKind::workspace, 2, kNoValue};
  f.plan.workspaces.push_back({kCpu, bytes});
  f.plan.workspaces.push_back({kCpu, bytes});
  const Step twice = f.plan.steps.at(0), reversed = f.plan.steps.at(1);
  f.plan.steps = {twice, CopyStep{on_cpu, on_gpu, bytes}, add_step(on_cpu, argument(3), sum),
                  CopyStep{on_gpu, sum, bytes}, reversed};
  REQUIRE(check_manifest(module.manifest).is_ok());
  return module;
}

CallStep& call_of(ModuleFile& module) {
  for (Step& step : module.manifest.functions.at(0).plan.steps)
    if (auto* call = std::get_if<CallStep>(&step)) return *call;
  FAIL("the plan calls no native code");
  std::abort();
}

ModuleFile with_early_verdict(ModuleFile module) {
  FunctionInfo& f = module.manifest.functions.at(0);
  f.messages = {"n is odd", "the step on the CPU failed"};
  LaunchStep judge;
  judge.kernel = "judge";
  judge.operands = {{OperandKind::workspace, 0, kNoValue}, kCount};
  f.plan.steps.insert(f.plan.steps.begin(), judge);
  launch_of(module, 1).result = {0, kNoValue};
  call_of(module).first_message = 1;
  REQUIRE(check_manifest(module.manifest).is_ok());
  return module;
}

ModuleFile with_mixed_init_plan(ModuleFile module) {
  FunctionInfo& f = module.manifest.functions.at(0);
  f.parameters[0].is_constant = f.parameters[3].is_constant = true;
  const ValueIndex bytes = vector_bytes(f.init);
  f.persistent = {{kGpu, bytes}, {kCpu, bytes}};
  f.init.workspaces = {{kCpu, bytes}};
  constexpr Operand between{OperandKind::workspace, 0, kNoValue};
  LaunchStep twice = std::get<LaunchStep>(f.plan.steps.front());
  twice.grid[0] = add_value(f.init, 1, value_expr(f.plan, 1, twice.grid[0]));
  twice.block[0] = add_value(f.init, 1, value_expr(f.plan, 1, twice.block[0]));
  twice.operands = {argument(0), persistent(0), kCount};
  f.init.steps = {twice, CopyStep{between, persistent(0), bytes}, add_step(between, argument(3), persistent(1))};
  // The plan copies what is kept on the GPU instead of launching the first kernel.
  f.plan.steps.erase(f.plan.steps.begin());
  std::get<CopyStep>(f.plan.steps.front()).from = persistent(0);
  call_of(module).operands[1] = persistent(1);
  const Status checked = check_manifest(module.manifest);
  REQUIRE_MESSAGE(checked.is_ok(), checked.message());
  return module;
}

}  // namespace ferry::test
