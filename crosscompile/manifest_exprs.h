// Sizes and preconditions as the manifest carries them.
#pragma once

#include "crosscompile/ir/function.h"
#include "rpc/abi/manifest_expr.h"

#include <cstdint>
#include <string>

namespace ferry {

// What a division by 0, an error where manifests are evaluated, is to give.
enum class DivisionByZero : std::uint8_t {
  error,  // of a shape or a stride: no call can mean that
  zero,   // what it gives in a kernel
};

// An integer or bool expression over the function's symbols, in postfix. CompileError, which names `what`, when it uses
// anything else or is longer than a manifest takes.
ManifestExpr to_manifest(const ir::Expr& expr, const ir::Function& function, const std::string& what,
                         DivisionByZero by_zero = DivisionByZero::zero);

}  // namespace ferry
