// The table of passes between lowering and code generation.
//
// After the whole pipeline:
// - Loops are serial or parallel (of any kind, without PassGroups::loops). Vectors are explicit (Ramp, Broadcast,
//   vector Load and Store, VectorReduce) and may have any number of lanes, also more than a register holds, or not a
//   power of two.
// - Every Load and Store has exactly one index, counted in elements from the start of the buffer, rank 0 included.
// - Vector loads and stores carry masks. On memory they are real masks. On a Scope::local buffer whose index is a Ramp
//   with a constant base within the buffer they should become selects, so that the buffer can be kept in registers.
// - The condition of an IfThenElse is a scalar or the Broadcast of one, so it can always become a branch.
// - Every Allocate of Scope::global has an offset into the call's or the thread's workspace (Allocate in ir/stmt.h).
//   The address of a block may be requested from the runtime only once, at the start of the kernel (call) or of a
//   parallel body (thread). Buffers of Scope::local have a constant size.
// - An InstructionStmt has arguments, and code generation uses only those: its definition may still contain loops of
//   any kind.
// - CallOp::bitcast keeps the bits. Values of f16 and bf16 are only copied (Load, Store, Let, Select,
//   IfThenElse, Broadcast, bitcast to and from u16), so that 16-bit integers can represent them, except for the
//   operations that legalize_floats.h leaves to the target.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace ferry::passes {

struct Pass {
  std::string_view name;
  std::string_view purpose;  // a line for people, without a full stop (docs/passes.md)
  ir::Function (*run)(ir::Function, const Target&);
  bool PassGroups::* group = nullptr;  // only targets with this group have the pass; null: all have it
};

// The last pass about blocks and threads. After it the barriers and the memory of a kernel are final, and indices are
// still multi-dimensional, so the interpreter's errors are clearest here.
inline constexpr std::string_view kLastGpuPass = "unroll_registers";

// Passes in order. Each pass's header explains its position.
std::span<const Pass> pipeline();

// Runs the pass if the target has it.
ir::Function run_pass(const Pass& pass, ir::Function function, const Target& target);

// Runs all passes that the target has; calls `after`, if given, with the function after each pass, and for a pass that
// the target does not have with what the previous one left. Debug builds validate after each pass.
ir::Function run_pipeline(ir::Function function, const Target& target,
                          const std::function<void(std::string_view pass, const ir::Function&)>& after = {});

// Called with the index of a function and what it is after a pass. Calls for different functions may be at once.
using AfterPass = std::function<void(std::size_t index, std::string_view pass, const ir::Function&)>;

// Runs all passes on each function, on several threads. Throws the exception of the first function that has one.
std::vector<ir::Function> run_pipeline(std::span<const ir::Function> lowered, const Target& target,
                                       const AfterPass& after = {});

}  // namespace ferry::passes
