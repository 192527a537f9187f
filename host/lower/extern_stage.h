// Lowers a stage computed by a C function to one call instead of loops.
#pragma once

#include "crosscompile/ir/stmt.h"
#include "host/lower/nest.h"

namespace ferry::lower {

// The arguments still refer to tensors; storage is assigned later. Throws CompileError when the result is not dense.
ir::Stmt extern_stage(const Nest& nest);

}  // namespace ferry::lower
