// Instruction selection: finds the arguments of each InstructionStmt's instruction, or reports why its definition does
// not match the instruction. Targets without the instruction compute the definition, and copy synchronously.
//
// Runs after split_vthreads, so that a thread's part of the work is one loop nest, and before insert_barriers, which
// examines the reads of definitions. Throws CompileError also where not all threads of a warp reach the instruction.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

namespace ferry::passes {

ir::Function select_instructions(ir::Function function, const Target& target);

}  // namespace ferry::passes
