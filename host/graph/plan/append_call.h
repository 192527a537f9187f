// Appends the plans of a kernel to those of a network's function.
#pragma once

#include "host/graph/plan/plan_values.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::graph {

// Maps the parts of a kernel's plan to those of the network's.
struct AppendedCall {
  std::vector<ValueIndex> values;          // those of its symbols, then those of its values
  std::vector<std::size_t> blocks;         // blocks of the arena, one for each of its workspaces
  std::vector<WorkspacePlace> workspaces;  // where these are
  std::vector<Operand> tensors;            // the operand for each of its tensor parameters, in their order
  std::vector<ValueIndex> scalars;         // the value for each of its scalar parameters, in their order

  ValueIndex value(ValueIndex own) const { return own == kNoValue ? kNoValue : values[own]; }
};

// Whether a launch of the plan leaves its result in this workspace. The result is read when the whole function has run
// (MODULE.md), so no other step may use the workspace's bytes.
bool keeps_result(const Plan& plan, std::size_t workspace);

// `messages` are the kernel's, as the network's function reports them. The values of both plans may grow.
void append_call(const FunctionInfo& kernel, const AppendedCall& call, const std::vector<std::string>& messages,
                 FunctionInfo& function, PlanValues& values, PlanValues& init_values);

}  // namespace ferry::graph
