// Semantic analysis of one statement: the tensors it computes.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/text/scope.h"

#include <string>
#include <vector>

namespace ferry::lang {

struct StatementResult {
  std::vector<Tensor> tensors;  // one for each name
  std::vector<ir::Requirement> requirements;
  std::vector<std::string> warnings;
};

// `names` are the names of the computed tensors: first the value target, if there is one, then the target. A tensor in
// the scope with the target's name is the one that the statement updates.
StatementResult analyze_statement(const Scope& scope, const StatementSyntax& statement,
                                  const std::vector<std::string>& names);

}  // namespace ferry::lang
