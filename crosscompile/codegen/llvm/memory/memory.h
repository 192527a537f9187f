// Emits loads and stores: consecutive lanes as one vector, small constant strides as a few vectors and a shuffle,
// anything else lane by lane; masks as masked operations. Indices are flat (passes/memory/flatten.h).
#pragma once

#include "crosscompile/codegen/llvm/memory/strided.h"

namespace ferry::codegen {

// Returns an access to one of the function's tensors.
Access access_to(FunctionState& state, const ir::BufferRef& buffer, ir::Type type);

// Emits a scalar index. Where addresses are narrower than indices, only the low bits of the index matter. Computing it
// from low bits from the start leaves additions of addresses, which loops can increment.
llvm::Value* emit_index(FunctionState& state, const ir::Expr& index);
llvm::Value* emit_load(FunctionState& state, const ir::Load& node);
void emit_store(FunctionState& state, const ir::Store& node);
// Returns the address of the element, which need not exist.
llvm::Value* emit_address(FunctionState& state, const ir::Load& node);
// Prefetches the cache line of the element, which need not exist.
void emit_prefetch(FunctionState& state, const ir::Load& node);

}  // namespace ferry::codegen
