// Replaces variables and buffers, and finds uses of them.
#pragma once

#include "crosscompile/ir/stmt.h"

#include <unordered_map>
#include <vector>

namespace ferry::ir {

using Substitution = std::unordered_map<const ExprNode*, Expr>;  // Var node -> value

Expr substitute(const Expr& expr, const Substitution& values);
Stmt substitute(const Stmt& stmt, const Substitution& values);

// Replaces buffers in loads, stores and allocations; the rank of the new buffer must fit the indices.
using BufferSubstitution = std::unordered_map<const Buffer*, BufferRef>;
Expr substitute_buffers(const Expr& expr, const BufferSubstitution& buffers);
Stmt substitute_buffers(const Stmt& stmt, const BufferSubstitution& buffers);

bool uses_var(const Expr& expr, const Expr& var);
bool uses_var(const Stmt& stmt, const Expr& var);
// Returns the variables that occur free, in order of first occurrence.
std::vector<Expr> free_vars(const Expr& expr);
std::vector<Expr> free_vars(const Stmt& stmt);
// Compares structure (variables and buffers by identity).
bool equal(const Expr& a, const Expr& b);

}  // namespace ferry::ir
