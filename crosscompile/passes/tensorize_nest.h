// What takes the place of a loop nest that `tensorize AXIS INTRINSIC` names: a dot (dot_nest.h), or a call of a C
// function of the program's Context.
#pragma once

#include "crosscompile/passes/intrinsics.h"
#include "crosscompile/passes/match_nest.h"

#include <string>
#include <vector>

namespace ferry::passes {

// Of the context (null: none), of dots, and of what several threads of a GPU do together.
std::vector<std::string> tensor_intrinsic_names(const Context* context);
// Whether it is an instruction of threads: what each computes is compared once that is known
// (passes/match_instructions.h).
bool is_of_threads(const std::string& intrinsic);
// Whether the loops over results are vectors wherever else they stand.
bool has_lanes(const std::string& intrinsic, const Context* context);

// Empty when the nest computes what the intrinsic does, wherever its operands stand in memory; else "expected X, got
// Y".
std::string check_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);
// CompileError "expected X, got Y".
ir::Stmt tensorize_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);
// For a nest that sets results to what a reduction starts from; nothing when the intrinsic does not do that.
ir::Stmt reset_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest);

}  // namespace ferry::passes
