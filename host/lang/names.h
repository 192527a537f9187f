// Checks of names and shapes, and phrases of messages.
#pragma once

#include "crosscompile/ir/expr.h"

#include <string>
#include <vector>

namespace ferry::lang {

inline constexpr std::size_t kMaxNameLength = 128;

// Throws CompileError unless the name is a letter or '_' followed by letters, digits, '_' and '.'.
void check_name(const std::string& name, const char* what);

// Returns the sizes as index expressions. Throws CompileError for more than 8 dimensions, types other than integers,
// negative constants, and more elements than memory could ever hold.
std::vector<ir::Expr> checked_shape(std::vector<ir::Expr> shape, const std::string& name);

// Returns the strides as index expressions; none if `strides` is empty. Throws CompileError unless there is one for
// each dimension, and for types other than integers and negative constants.
std::vector<ir::Expr> checked_strides(std::vector<ir::Expr> strides, std::size_t rank, const std::string& name);

// "1 index", "2 indices"
std::string counted(std::size_t count, const char* one, const char* many);

// Returns "; did you mean 'x'?" with the nearest candidate, or nothing when none is near.
std::string suggestion(const std::string& name, const std::vector<std::string>& candidates);

// Names of all element types.
std::vector<std::string> type_names();

}  // namespace ferry::lang
