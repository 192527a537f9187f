// Sizes and preconditions in the form that the manifest stores.
#pragma once

#include "crosscompile/ir/function.h"
#include "module/manifest_expr.h"

#include <cstdint>
#include <string>

namespace ferry {

// Selects the result of a division by 0, which is an error where manifests are evaluated.
enum class DivisionByZero : std::uint8_t {
  error,  // for shapes and strides, where no valid call divides by 0
  zero,   // 0, as in a kernel
};

// Converts an integer or bool expression over the function's symbols to postfix. Throws CompileError, which names
// `what`, when the expression uses anything else or is longer than a manifest allows.
ManifestExpr to_manifest(const ir::Expr& expr, const ir::Function& function, const std::string& what,
                         DivisionByZero by_zero = DivisionByZero::zero);

}  // namespace ferry
