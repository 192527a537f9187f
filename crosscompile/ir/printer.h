// Prints, beside the expressions of ferry/expr.h, C-like text for people: loops, stores, "parallel for", vectors as
// ramp(...) and x8(...). Names that clash while both are in scope are numbered.
#pragma once

#include "crosscompile/ir/function.h"

#include <string>

namespace ferry::ir {

std::string to_text(const Stmt& stmt);
std::string to_text(const Function& function);

}  // namespace ferry::ir
