// Cycles of a call by LLVM's model of a core, from machine code and how often its loops run. Only for files that may
// include LLVM.
#pragma once

#include "crosscompile/codegen/llvm/mca/code_loops.h"
#include "crosscompile/codegen/llvm/mca/core_model.h"
#include "ferry/target/target.h"

#include <optional>

namespace ferry::codegen {

// Returns nothing if LLVM has no model of the core or of some instruction, or if the trip count of a loop is not known.
std::optional<double> cycles_of(const CodeLoops& code, const Target& target, const CoreModel& core);

}  // namespace ferry::codegen
