// The text of the helper functions.
#pragma once

#include "crosscompile/codegen/source/helpers.h"

#include <string>
#include <vector>

namespace ferry::codegen::source {

// Replaces "$T" by the type, "$U" by the unsigned type of its size, "$W" by its width and "$N" by its short name.
std::string filled(std::string_view pattern, DType type);
// Returns a definition without its qualifiers.
std::string helper_text(Helper helper, DType type, const Dialect& dialect);
std::string saturating_text(DType from, DType to, const Dialect& dialect);
// Returns the helpers of float32 that the helper calls.
std::vector<Helper> helpers_inside(Helper helper, DType type);

}  // namespace ferry::codegen::source
