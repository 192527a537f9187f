// From a statement to the tensor it computes.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/scope.h"

#include <string>
#include <vector>

namespace ferry::lang {

struct StatementResult {
  Tensor tensor;
  std::vector<ir::Requirement> requirements;
};

// `name` is what the tensor will be called; a tensor of the target's name in the scope is the one it updates.
StatementResult analyze_statement(const Scope& scope, const StatementSyntax& statement, std::string name);

}  // namespace ferry::lang
