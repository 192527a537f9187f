// The table of passes that turns what lowering made into what code generation takes.
//
// After the whole pipeline
// - loops are serial or parallel; vectors are explicit (Ramp, Broadcast, vector Load and Store, masks, VectorReduce)
// and may have
//   any number of lanes, also more than a register holds or no power of two;
// - every Load and Store has exactly one index, counted in elements from the start of the buffer, rank 0 included;
// - every Allocate of Scope::global has an offset into the call's or the thread's workspace (Allocate in ir/stmt.h); a
// block's address
//   may be asked of the runtime once at the start of the kernel (call) or of a parallel body (thread);
//   Scope::local has a constant size;
// - Call "bitcast" keeps the bits; f16 and bf16 values are only moved (Load, Store, Let, Select, IfThenElse, Broadcast,
// bitcast to and
//   from u16), so 16-bit integers can stand for them, except for what the target does natively: Cast to and from f32
//   when converts_natively() says so, and all arithmetic when computes_natively() does (legalize_floats.h).
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

// In order. Each pass's header says why it stands where it does.
std::span<const Pass> pipeline();

// Runs all of them; `after`, if given, sees the function after each pass. Debug builds validate after each.
ir::Function run_pipeline(ir::Function function, const Target& target,
                          const std::function<void(std::string_view pass, const ir::Function&)>& after = {});

}  // namespace ferry::passes
