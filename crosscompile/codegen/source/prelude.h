// Prints what precedes the functions of a text: includes, types, the runtime's interface, prototypes and helpers.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Must be called after all functions are printed.
std::string prelude_text(const Unit& unit);

}  // namespace ferry::codegen::source
