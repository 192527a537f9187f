// Checks and phrases that the makers of tensors share.
#pragma once

#include "crosscompile/ir/expr.h"

#include <string>
#include <vector>

namespace ferry::lang {

inline constexpr std::size_t kMaxNameLength = 128;

// CompileError unless it is a letter or '_' and then letters, digits, '_' and '.'.
void check_name(const std::string& name, const char* what);

// The sizes as index expressions; CompileError beyond 8 dimensions, for other types than integers, negative constants
// and more elements than memory could ever hold.
std::vector<ir::Expr> checked_shape(std::vector<ir::Expr> shape, const std::string& name);

// The strides as index expressions, or none; CompileError when there is not one for each dimension, for other types
// than integers and negative constants.
std::vector<ir::Expr> checked_strides(std::vector<ir::Expr> strides, std::size_t rank, const std::string& name);

// "1 index", "2 indices"
std::string counted(std::size_t count, const char* one, const char* many);

// "; did you mean 'x'?" with the candidate that is nearest, or nothing when none is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates);

// Every name of an element type.
std::vector<std::string> type_names();

}  // namespace ferry::lang
