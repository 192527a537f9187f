// Semantic analysis of statements that update computed elements of a tensor in order: 'H(I(u)) += 1 along u'.
#pragma once

#include "host/lang/text/analyze_statement.h"

#include <string>

namespace ferry::lang {

// Whether the left side of a statement 'along' an index computes which element is updated.
bool is_scatter(const StatementSyntax& statement);

// `name` is the name of the tensor after the updates.
StatementResult analyze_updates(const Scope& scope, const StatementSyntax& statement, const std::string& name);

}  // namespace ferry::lang
