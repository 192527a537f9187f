// Integer arithmetic: as C has it where nothing can overflow, through unsigned integers or a helper elsewhere.
#pragma once

#include "crosscompile/codegen/source/expressions.h"

namespace ferry::codegen::source {

Text int_binary_text(FunctionState& state, const ir::Binary& node);
Text int_negation_text(FunctionState& state, const ir::Unary& node);

}  // namespace ferry::codegen::source
