// What the helper functions say.
#pragma once

#include "crosscompile/codegen/source/helpers.h"

#include <string>
#include <vector>

namespace ferry::codegen::source {

// "$T" for each place of the type, "$U" for the unsigned one of its size, "$W" for its width and "$N" for its short
// name are filled in.
std::string filled(std::string_view pattern, DType type);
// A definition without its qualifiers.
std::string helper_text(Helper helper, DType type, const Dialect& dialect);
std::string saturating_text(DType from, DType to, const Dialect& dialect);
// The helpers of float32 that it calls.
std::vector<Helper> helpers_inside(Helper helper, DType type);

}  // namespace ferry::codegen::source
