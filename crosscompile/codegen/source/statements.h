// Statements, a line each.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

void print_stmt(FunctionState& state, const ir::Stmt& stmt);

// for (int64_t var = begin; var < end; ++var) { body }
void print_loop(FunctionState& state, const ir::For& node, const std::string& begin, const std::string& end);
// The value once under a name, when it is more than arithmetic on variables; else the expression as it is.
std::string print_bound(FunctionState& state, const ir::Expr& bound, const std::string& name);
// What the variable of a loop can be, while its body is printed.
void note_loop(FunctionState& state, const ir::For& node);
// "/* [M, N] */"
std::string shape_comment(const ir::Buffer& buffer);

}  // namespace ferry::codegen::source
