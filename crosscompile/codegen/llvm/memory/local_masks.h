// Masked accesses to arrays that belong to one thread alone:
//
//     masked_store(v, total[192 + ramp], m)      ->      total[192 + ramp] = select(m, v, total[192 + ramp])
//
// So the array can be in registers. Where it is in memory, processors forward a store to the loads after it only if it
// is not masked, and otherwise the loads wait for the cache.
#pragma once

#include "crosscompile/codegen/llvm/memory/strided.h"

namespace ferry::codegen {

// Returns how many elements a local array needs so that it has all lanes of the vectors that are read and written at
// constant places in it: at least `elements`, its own.
std::uint64_t elements_of_whole_vectors(const ir::Allocate& node, std::uint64_t elements);

// Whether all lanes of an access that begins at `base` may be read and written, whatever its mask.
bool has_all_lanes(const FunctionState& state, const Access& access, const ir::Expr& base);
llvm::Value* load_selected(FunctionState& state, const Access& access, llvm::Value* index, llvm::Value* mask);
void store_selected(FunctionState& state, const Access& access, llvm::Value* index, llvm::Value* value,
                    llvm::Value* mask);

}  // namespace ferry::codegen
