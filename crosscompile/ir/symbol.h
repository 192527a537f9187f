// Names of functions in compiled code.
#pragma once

#include <string>

#include "crosscompile/ir/function.h"

namespace ferry::ir {

// Returns "ferry_fn_mm" for mm, and "ferry_init_mm" for the function that computes the persistent parameters of mm,
// which no other function is called, whatever names users choose.
std::string function_symbol(const Function& function);

}  // namespace ferry::ir
