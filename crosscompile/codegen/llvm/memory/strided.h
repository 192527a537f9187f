// The memory access patterns that emit_load and emit_store choose from. Values are in their memory representation (bool
// is a byte); indices are i64, in elements; masks are vectors of i1, or null for all lanes.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

struct Place {
  const ir::Buffer* buffer;
  llvm::Value* first;  // address of the buffer's first element
  ir::Type type;       // of the access, lanes included
};

llvm::Value* load_one(FunctionState& state, const Place& place, llvm::Value* index);
llvm::Value* load_consecutive(FunctionState& state, const Place& place, llvm::Value* index, llvm::Value* mask);
// Loads lanes that are `stride` elements apart (may be negative or zero).
llvm::Value* load_strided(FunctionState& state, const Place& place, llvm::Value* index, std::int64_t stride);
llvm::Value* gather(FunctionState& state, const Place& place, llvm::Value* indices, llvm::Value* mask);

void store_one(FunctionState& state, const Place& place, llvm::Value* index, llvm::Value* value);
void store_consecutive(FunctionState& state, const Place& place, llvm::Value* index, llvm::Value* value,
                       llvm::Value* mask);
void store_strided(FunctionState& state, const Place& place, llvm::Value* index, std::int64_t stride,
                   llvm::Value* value);
// Lanes that write the same element do so in lane order.
void scatter(FunctionState& state, const Place& place, llvm::Value* indices, llvm::Value* value, llvm::Value* mask);

}  // namespace ferry::codegen
