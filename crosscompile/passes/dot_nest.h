// Loop nests that are a "dot" of ir/expr.h: what `tensorize AXIS dot`, or with an instruction's name, puts in their
// place.
#pragma once

#include "crosscompile/passes/match_nest.h"

#include <string>
#include <string_view>
#include <vector>

namespace ferry::passes {

inline constexpr std::string_view kDot = "dot";  // of any types and sizes that a dot can have

// kDot and the instructions of dot_instructions.h.
std::vector<std::string> dot_names();

// Empty when the nest multiplies and adds as the dot of that name does; how its operands stand in memory is not looked
// at. Else "expected X, got Y".
std::string check_dot(std::string_view name, const LoopNest& nest);

// The nest as a store of a dot; CompileError "expected X, got Y". Elements of a factor stand one behind the other, or
// are the same for all lanes.
ir::Stmt dot_of(std::string_view name, const LoopNest& nest);

}  // namespace ferry::passes
