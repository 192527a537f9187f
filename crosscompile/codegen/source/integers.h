// Prints integer arithmetic: as C operators where nothing can overflow, otherwise through unsigned integers or a
// helper.
#pragma once

#include "crosscompile/codegen/source/expressions.h"

namespace ferry::codegen::source {

Text int_binary_text(FunctionState& state, const ir::Binary& node);
Text int_negation_text(FunctionState& state, const ir::Unary& node);

}  // namespace ferry::codegen::source
