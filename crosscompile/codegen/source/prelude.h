// What stands above the functions of a text: includes, types, the runtime's interface, prototypes and helpers.
#pragma once

#include "crosscompile/codegen/source/state.h"

namespace ferry::codegen::source {

// Once all functions are printed.
std::string prelude_text(const Unit& unit);

}  // namespace ferry::codegen::source
