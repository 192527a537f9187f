#include "tests/unit/device-runtime/supervisor/instance_fixture.h"

namespace ferry::test {
namespace {

// As copying(), but without steps in the init plan.
FunctionInfo with_init_plan(std::string name) {
  FunctionInfo f;
  f.name = std::move(name);
  f.symbols = {"n"};
  f.parameters = {tensor_parameter("A", Direction::in), tensor_parameter("B", Direction::in),
                  tensor_parameter("C", Direction::out)};
  f.parameters[1].is_constant = true;
  CallStep add;
  add.symbol = "add";
  add.operands = {{OperandKind::argument, 0, kNoValue},
                  {OperandKind::persistent, 0, kNoValue},
                  {OperandKind::argument, 2, kNoValue},
                  {OperandKind::value, 0, kNoValue}};
  f.plan.steps = {add};
  const ValueIndex bytes =
      add_value(f.init, 1, manifest_apply(ManifestOp::mul, {manifest_symbol(0), manifest_constant(4)}));
  f.persistent = {{0, bytes}};
  return f;
}

// P = B + B
FunctionInfo doubling() {
  FunctionInfo f = with_init_plan("doubling");
  CallStep twice = std::get<CallStep>(f.plan.steps[0]);
  twice.operands[0] = twice.operands[1] = {OperandKind::argument, 1, kNoValue};
  twice.operands[2] = {OperandKind::persistent, 0, kNoValue};
  f.init.steps = {twice};
  return f;
}

// As doubling, but its persistent buffer has no room for the last element.
FunctionInfo beyond() {
  FunctionInfo f = doubling();
  f.name = "beyond";
  const ManifestExpr less = manifest_apply(ManifestOp::sub, {manifest_symbol(1), manifest_constant(4)});
  f.persistent[0].bytes = add_value(f.init, 1, less);
  return f;
}

// Has as many empty persistent buffers as a third of a session may have, and one more.
FunctionInfo many() {
  FunctionInfo f = with_init_plan("many");
  f.persistent.resize(65'536 / 3 + 1, {0, kNoValue});
  f.init.steps = copying().init.steps;
  return f;
}

// Has 1000 constants besides B.
FunctionInfo wide() {
  FunctionInfo f = with_init_plan("wide");
  f.init.steps = copying().init.steps;
  for (int i = 0; i < 1000; ++i) {
    f.parameters.push_back(tensor_parameter("D" + std::to_string(i), Direction::in));
    f.parameters.back().is_constant = true;
  }
  return f;
}

// Its calls have many steps.
FunctionInfo lengthy() {
  FunctionInfo f = with_init_plan("lengthy");
  f.init.steps = copying().init.steps;
  f.plan.steps.resize(20'000, FillStep{{OperandKind::argument, 2, kNoValue}, kNoValue, 1, 0});
  return f;
}

}  // namespace

FunctionInfo copying() {
  FunctionInfo f = with_init_plan("copying");
  f.init.steps = {
      CopyStep{{OperandKind::persistent, 0, kNoValue}, {OperandKind::argument, 1, kNoValue}, f.persistent[0].bytes}};
  return f;
}

FunctionInfo failing(std::string name, const std::string& symbol) {
  FunctionInfo f = with_init_plan(std::move(name));
  f.messages = {"the call's reason", "the first reason", "the second reason"};
  CallStep step;
  step.symbol = symbol;
  step.operands = {{OperandKind::value, 0, kNoValue}, {OperandKind::persistent, 0, kNoValue}};
  step.first_message = 1;
  f.init.steps = {step};
  return f;
}

const Bytes& instance_file() {
  static const Bytes bytes = [] {
    ModuleFile module = kit_module();
    for (FunctionInfo& f : std::vector<FunctionInfo>{doubling(), copying(), beyond(), failing("failing", "fail"),
                                                     failing("crashing", "null_pointer"), many(), wide(), lengthy()})
      module.manifest.functions.push_back(std::move(f));
    REQUIRE(check_manifest(module.manifest).is_ok());
    return write_module(module);
  }();
  return bytes;
}

}  // namespace ferry::test
