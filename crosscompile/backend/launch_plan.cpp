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

  Plan plan(SharedMemory shared) {
    const ManifestExpr workspace = manifest(function_.call_workspace, "workspace");
    if (!workspace.code.empty()) plan_.workspaces.push_back({0, value(workspace)});
    for (const passes::GpuKernel& kernel : passes::extract_kernels(function_)) add(kernel, shared);
    // The kernels leave their result at the beginning of the workspace.
    if (!function_.messages.empty() && !plan_.steps.empty())
      std::get<LaunchStep>(plan_.steps.back()).result = {0, kNoValue};
    return std::move(plan_);
  }

 private:
  void add(const passes::GpuKernel& kernel, SharedMemory shared) {
    LaunchStep step;
    step.kernel = kernel.symbol;
    if (shared == SharedMemory::at_launch && kernel.shared_bytes > passes::kStaticSharedBytes)
      step.shared_bytes = value(manifest(ir::Expr(kernel.shared_bytes), "shared memory"));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      step.grid[axis] = value(manifest(kernel.grid[axis].extent, "grid"));
      step.block[axis] = value(manifest(kernel.block[axis].extent, "block"));
    }
    for (const passes::KernelParameter& parameter : kernel.parameters) step.operands.push_back(operand(parameter));
    plan_.steps.emplace_back(std::move(step));
  }

  ManifestExpr manifest(const ir::Expr& expr, const char* what) const {
    return to_manifest(expr, function_, function_.name + ": " + what);
  }

  ValueIndex value(ManifestExpr expr) { return add_value(plan_, function_.symbols.size(), std::move(expr)); }

  Operand operand(const passes::KernelParameter& parameter) {
    if (parameter.buffer != nullptr && parameter.offset.defined())
      return {OperandKind::workspace, 0, value(manifest(parameter.offset, "workspace"))};
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
      const ir::FunctionParameter& own = function_.parameters[i];
      if (parameter.buffer != nullptr && own.buffer == parameter.buffer) return {OperandKind::argument, i, kNoValue};
    }
    for (std::uint32_t i = 0; i < function_.symbols.size(); ++i)
      if (parameter.variable.same_as(function_.symbols[i])) return {OperandKind::value, i, kNoValue};
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
      if (parameter.variable.defined() && parameter.variable.same_as(function_.parameters[i].scalar))
        return {OperandKind::scalar, i, kNoValue};
    throw InternalError(function_.name + ": a kernel is given what the function does not have");
  }

  const ir::Function& function_;
  Plan plan_;
};

}  // namespace

Plan launch_plan(const ir::Function& function, SharedMemory shared) { return Planner(function).plan(shared); }

}  // namespace ferry
