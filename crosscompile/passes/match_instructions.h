// Finds what each Intrinsic's instruction is to be given, or says why its definition is not what the instruction does.
// Targets without the instruction compute the definition, and copy without delay.
//
// Before: split_vthreads, so that a thread's part of the work is one nest of loops; not yet insert_barriers, which
// looks at what definitions read. CompileError as well where not all threads of a warp come to the instruction.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

namespace ferry::passes {

ir::Function match_instructions(ir::Function function, const Target& target);

}  // namespace ferry::passes
