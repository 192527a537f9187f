// Replaces a loop nest by the intrinsic that `tensorize AXIS INTRINSIC` names: a dot (dot_nest.h), or a call of a C
// function of the program's Context.
#pragma once

#include "crosscompile/passes/tensorize/match_nest.h"
#include "ferry/intrinsics.h"

#include <string>
#include <vector>

namespace ferry::passes {

// Returns the intrinsics of the context (null: none), the dots, and the instructions that several threads of a GPU
// execute together.
std::vector<std::string> tensor_intrinsic_names(const Context* context);
// Returns whether several threads execute the instruction; its definition is compared once each thread's work is known
// (passes/tensorize/select_instructions.h).
bool is_of_threads(const std::string& intrinsic);
// Returns whether the loops over results become vectors outside of the nest too, where results are initialised and
// stored.
bool has_lanes(const std::string& intrinsic, const Context* context);

// Returns "" when the nest computes the same as the intrinsic, whatever the memory layout of its operands, and
// otherwise "expected X, got Y".
std::string check_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);
// Throws CompileError "expected X, got Y".
ir::Stmt tensorize_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);
// Replaces a nest that initialises the results of a reduction; returns nothing when the intrinsic does not do that.
ir::Stmt reset_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);

}  // namespace ferry::passes
