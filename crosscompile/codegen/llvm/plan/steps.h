// Code for the steps of a plan.
#pragma once

#include "crosscompile/codegen/llvm/plan/instance.h"
#include "crosscompile/codegen/llvm/plan/size_code.h"

#include <vector>

namespace ferry::codegen {

// The operands of a plan as values of the function being emitted.
struct PlanOperands {
  std::vector<llvm::Value*> parameters;  // addresses of tensors, and scalars; null for those that the plan does not use
  std::vector<llvm::Value*> workspaces;  // addresses
  std::vector<llvm::Value*> persistent;
  std::vector<llvm::Value*> constants;
};

// Emits the steps one after the other. Where a kernel fails, the function returns the code of its message
// (positive_messages() in c_interface.h). The builder continues behind the last step.
void emit_steps(llvm::IRBuilder<>& b, const Plan& plan, const SizeCode& sizes, const PlanOperands& operands,
                llvm::Value* instance, const InstanceLayout& layout);

}  // namespace ferry::codegen
