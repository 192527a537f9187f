// The table of passes that turns what lowering made into what code generation takes.
//
// After the whole pipeline
// - Loops are serial or parallel (of any kind, where Target::keeps_loops). Vectors are explicit (Ramp, Broadcast,
// vector
//   Load and Store, VectorReduce) and may have any number of lanes, also more than a register holds or no power of two.
// - Every Load and Store has exactly one index, counted in elements from the start of the buffer, rank 0 included.
// - Masks stand on vector loads and stores. On memory they are real masks. On a Scope::local buffer whose index is a
//   Ramp with a constant base within the buffer they should become selects, since the buffer shall become registers.
// - The condition of an IfThenElse is a scalar or the Broadcast of one, so it can always become a branch.
// - Every Allocate of Scope::global has an offset into the call's or the thread's workspace (Allocate in ir/stmt.h).
//   A block's address may be asked of the runtime once, at the start of the kernel (call) or of a parallel body
//   (thread). Buffers of Scope::local have a constant size.
// - An Intrinsic has arguments, and code generation looks at those alone: its definition is still in loops of any kind.
// - "bitcast" keeps the bits. Values of f16 and bf16 are only moved (Load, Store, Let, Select, IfThenElse, Broadcast,
//   bitcast to and from u16), so 16-bit integers can stand for them, except for what legalize_floats.h says that the
//   target does natively.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <functional>
#include <span>
#include <string_view>

namespace ferry::passes {

struct Pass {
  std::string_view name;
  ir::Function (*run)(ir::Function, const Target&);
};

// After it, a kernel's blocks, threads, memory and barriers are what they will be, and every tensor still has an index
// for each of its dimensions: what the interpreter finds is told best there.
inline constexpr std::string_view kLastOfThreads = "unroll_registers";

// In order. Each pass's header says why it stands where it does.
std::span<const Pass> pipeline();

// Runs all of them; `after`, if given, sees the function after each pass. Debug builds validate after each.
ir::Function run_pipeline(ir::Function function, const Target& target,
                          const std::function<void(std::string_view pass, const ir::Function&)>& after = {});

}  // namespace ferry::passes
