#include "crosscompile/backend/launch_plan.h"

#include "crosscompile/backend/manifest_exprs.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/gpu/extract_kernels.h"

#include <string>

namespace ferry {
namespace {

class Planner {
 public:
  explicit Planner(const ir::Function& function) : function_(function) {}

  Step step(const passes::Launch& launch, SharedMemory shared) const {
    Step step;
    if (shared == SharedMemory::at_launch && launch.shared_bytes > passes::kStaticSharedBytes)
      step.launch.shared_bytes = manifest(ir::Expr(launch.shared_bytes), "shared memory");
    step.launch.kernel = launch.symbol;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      step.launch.grid[axis] = manifest(launch.grid[axis].extent, "grid");
      step.launch.block[axis] = manifest(launch.block[axis].extent, "block");
    }
    for (const passes::LaunchParameter& parameter : launch.parameters)
      step.launch.operands.push_back(operand(parameter));
    return step;
  }

 private:
  ManifestExpr manifest(const ir::Expr& expr, const char* what) const {
    return to_manifest(expr, function_, function_.name + ": " + what);
  }

  Operand operand(const passes::LaunchParameter& parameter) const {
    if (parameter.buffer != nullptr && parameter.offset.defined())
      return {OperandKind::call_workspace, 0, manifest(parameter.offset, "workspace")};
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
      const ir::FunctionParameter& own = function_.parameters[i];
      if (parameter.buffer != nullptr && own.buffer == parameter.buffer) return {OperandKind::argument, i, {}};
    }
    for (std::uint32_t i = 0; i < function_.symbols.size(); ++i)
      if (parameter.variable.same_as(function_.symbols[i])) return {OperandKind::symbol, i, {}};
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
      if (parameter.variable.defined() && parameter.variable.same_as(function_.parameters[i].scalar))
        return {OperandKind::scalar, i, {}};
    throw InternalError(function_.name + ": a kernel is given what the function does not have");
  }

  const ir::Function& function_;
};

}  // namespace

Plan launch_plan(const ir::Function& function, SharedMemory shared) {
  const Planner planner(function);
  Plan plan;
  for (const passes::Launch& launch : passes::launches_of(function)) plan.push_back(planner.step(launch, shared));
  return plan;
}

}  // namespace ferry
