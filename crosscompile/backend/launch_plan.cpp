#include "crosscompile/backend/launch_plan.h"

#include "crosscompile/backend/manifest_exprs.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "ferry/operators.h"

#include <optional>
#include <string>

namespace ferry {
namespace {

class Planner {
 public:
  explicit Planner(const ir::Function& function) : function_(function) {}

  Plan plan(SharedMemory shared) {
    for (const passes::GpuKernel& kernel : passes::extract_kernels(function_)) add(kernel, shared);
    if (!function_.messages.empty() && !plan_.steps.empty())
      std::get<LaunchStep>(plan_.steps.back()).result = {result_workspace(), kNoValue};
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

  std::uint32_t add_workspace(ManifestExpr bytes) {
    plan_.workspaces.push_back({0, value(std::move(bytes))});
    return static_cast<std::uint32_t>(plan_.workspaces.size() - 1);
  }

  // The result is read when everything has run, unlike the rest of the workspace, so that it has one of its own.
  std::uint32_t result_workspace() {
    if (!result_) result_ = add_workspace(manifest_constant(sizeof(std::int32_t)));
    return *result_;
  }

  Operand workspace_operand(const ir::Expr& offset) {
    // The kernels leave their result at the beginning.
    const std::int64_t* constant = as_int(offset);
    if (!function_.messages.empty() && constant != nullptr && *constant == 0)
      return {OperandKind::workspace, result_workspace(), kNoValue};
    if (!scratch_) scratch_ = add_workspace(manifest(function_.call_workspace, "workspace"));
    return {OperandKind::workspace, *scratch_, value(manifest(offset, "workspace"))};
  }

  Operand operand(const passes::KernelParameter& parameter) {
    if (parameter.buffer != nullptr && parameter.offset.defined()) return workspace_operand(parameter.offset);
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
  std::optional<std::uint32_t> scratch_, result_;  // indices of workspaces
};

}  // namespace

Plan launch_plan(const ir::Function& function, SharedMemory shared) { return Planner(function).plan(shared); }

}  // namespace ferry
