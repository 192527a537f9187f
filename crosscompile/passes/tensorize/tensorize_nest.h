// Replaces a loop nest by the intrinsic that `tensorize AXIS INTRINSIC` names: a dot (dot_nest.h), or a call of a C
// function of the program's Context.
#pragma once

#include "crosscompile/passes/tensorize/match_nest.h"
#include "ferry/intrinsics.h"

#include <string>
#include <vector>

namespace ferry::passes {

// Returns the intrinsics of the context (null: none), the dots, and the instructions of find_instruction()
// (tensor_core.h).
std::vector<std::string> tensor_intrinsic_names(const Context* context);
// Returns whether the intrinsic becomes an InstructionStmt, whose definition is compared by a pass
// (passes/tensorize/select_instructions.h), once each thread's work is known.
bool is_instruction(const std::string& intrinsic);
// Returns whether the innermost loop over results becomes vectors outside of the nest too, where results are
// initialised and stored.
bool has_lanes(const std::string& intrinsic, const Context* context);

// Returns "" when the nest computes the same as the intrinsic, whatever the memory layout of its operands, and
// otherwise "expected X, got Y".
std::string check_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);
// Throws CompileError "expected X, got Y".
ir::Stmt tensorize_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);
// Replaces a nest that initialises the results of a reduction; returns nothing when the intrinsic does not do that.
ir::Stmt reset_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);

}  // namespace ferry::passes
