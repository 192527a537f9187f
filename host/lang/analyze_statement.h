// From a statement to the tensor it computes.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/scope.h"

#include <string>
#include <vector>

namespace ferry::lang {

struct StatementResult {
  std::vector<Tensor> tensors;  // one a name
  std::vector<ir::Requirement> requirements;
  std::vector<std::string> warnings;
};

// `names` are what the tensors will be called: of the value target, if there is one, and of the target. A tensor of the
// target's name in the scope is the one it updates.
StatementResult analyze_statement(const Scope& scope, const StatementSyntax& statement,
                                  const std::vector<std::string>& names);

}  // namespace ferry::lang
