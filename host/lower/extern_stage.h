// A stage that a C function computes: one call in the place of loops.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// Arguments are named as tensors still, not as where they are kept. CompileError when the result is not dense.
ir::Stmt extern_stage(const Nest& nest);

}  // namespace ferry::lower
