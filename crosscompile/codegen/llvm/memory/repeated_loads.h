// Loads of an element, or of a group of elements, that is repeated for all lanes (passes/tensorize/dot_instructions.h):
// one scalar load and a broadcast. Where a lane of a register is broadcast as fast as an element in memory, or by the
// instruction that uses it, those that are close to each other are lanes of one register:
//
//     dot(s, X[i + ramp % 4], w), dot(t, X[i + 4 + ramp % 4], w)      ->      one load of X[i] to X[i + 7], two
//     s + broadcast(X[i]) * w, t + broadcast(X[i + 1]) * w                    broadcasts
#pragma once

#include "crosscompile/codegen/llvm/memory/strided.h"

#include <optional>
#include <span>

namespace ferry::codegen {

// `group` elements from `first` on, repeated.
struct Repeated {
  ir::Expr first;  // undefined: 0
  std::int64_t group;
};

// Recognises a repeated index: ramp(0, 1) % group, optionally plus a broadcast number.
std::optional<Repeated> repeated(const ir::Expr& index);
// Whether the group has the size of a scalar that can be broadcast.
bool is_one_number(const ir::Load& node, const Repeated& repeat);
llvm::Value* load_repeated(FunctionState& state, const Access& access, const Repeated& repeat, const ir::Load& node);
// The same for the broadcast of an element. Returns null if it shares no register.
llvm::Value* load_broadcast(FunctionState& state, const ir::Broadcast& node);

// Finds repeated loads that share a register in the first `count` of `statements`, which are stores; all of them
// execute or none, and what lies between two elements that they read exists too. Replaces state.repeated_loads.
void find_repeated_loads(FunctionState& state, std::span<const ir::Stmt> statements, std::size_t count);

}  // namespace ferry::codegen
