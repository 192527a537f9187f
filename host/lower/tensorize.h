// Replaces the loop nests that `tensorize` names by intrinsics.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/lower.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// Rewrites the loops of all nests after storage has been assigned to tensors. Throws CompileError, with the stage and
// the directive, for a nest that does not compute what its intrinsic does.
ir::Stmt tensorize(const Nests& nests, const ir::Stmt& body, FunctionsOfC functions);

}  // namespace ferry::lower
