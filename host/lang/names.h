// Checks and phrases that the makers of tensors share.
#pragma once

#include "crosscompile/ir/expr.h"

#include <string>
#include <vector>

namespace ferry::lang {

// CompileError unless it is a letter or '_' and then letters, digits, '_' and '.'.
void check_name(const std::string& name, const char* what);

// The sizes as index expressions; CompileError beyond 8 dimensions, for other types than integers and negative
// constants.
std::vector<ir::Expr> checked_shape(std::vector<ir::Expr> shape, const std::string& name);

// "1 index", "2 indices"
std::string counted(std::size_t count, const char* one, const char* many);

}  // namespace ferry::lang
