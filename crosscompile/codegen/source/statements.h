// Prints statements, one per line.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

void print_stmt(FunctionState& state, const ir::Stmt& stmt);

// Prints for (int64_t var = begin; var < end; ++var) { body }.
void print_loop(FunctionState& state, const ir::For& node, const std::string& begin, const std::string& end);
// Computes the value once, under a name, when it is more than arithmetic on variables; otherwise prints the expression.
std::string print_bound(FunctionState& state, const ir::Expr& bound, const std::string& name);
// Records the range of a loop's variable while its body is printed.
void note_loop(FunctionState& state, const ir::For& node);
// Returns "/* [M, N] */".
std::string shape_comment(const ir::Buffer& buffer);

}  // namespace ferry::codegen::source
