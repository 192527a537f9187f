// Recognises loop nests that compute a CallOp::dot: `tensorize AXIS dot`, or an instruction's name in place of
// dot, replaces them.
#pragma once

#include "crosscompile/passes/tensorize/match_nest.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferry::passes {

inline constexpr std::string_view kDot = "dot";  // any types and sizes that a dot can have

// Returns kDot and the names of the instructions of dot_instructions.h.
std::vector<std::string> dot_names();

// Returns "" when the nest multiplies and adds as the dot of that name does, whatever the memory layout of its
// operands, and otherwise "expected X, got Y".
std::string check_dot(std::string_view name, const LoopNest& nest);

// Returns the nest as a store of a dot; throws CompileError "expected X, got Y". The elements of a factor must be
// consecutive, or the same for all lanes.
ir::Stmt dot_of(std::string_view name, const LoopNest& nest);

}  // namespace ferry::passes
