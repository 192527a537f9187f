// Puts intrinsics in the place of the loop nests that `tensorize` names.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// In the loops of all nests, where tensors are read from where they are kept already. CompileError, with the stage and
// the directive, for a nest that does not compute what its intrinsic does.
ir::Stmt tensorize(const Nests& nests, const ir::Stmt& body);

}  // namespace ferry::lower
