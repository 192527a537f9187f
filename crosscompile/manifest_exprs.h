// Sizes and preconditions as the manifest carries them.
#pragma once

#include "crosscompile/ir/function.h"
#include "rpc/abi/manifest_expr.h"

#include <string>

namespace ferry {

// An integer or bool expression over the function's symbols, in postfix. CompileError, which names `what`, when it uses
// anything else or is longer than a manifest takes.
ManifestExpr to_manifest(const ir::Expr& expr, const ir::Function& function, const std::string& what);

}  // namespace ferry
