// The memory access patterns that emit_load and emit_store choose from. Values are in their memory representation (bool
// is a byte); indices are i64, in elements; masks are vectors of i1, or null for all lanes.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// With larger strides a vector load contains too few of the requested lanes.
constexpr std::int64_t kMaxShuffledStride = 4;

// An access to a buffer.
struct Access {
  const ir::Buffer* buffer;
  llvm::Value* first;  // address of the buffer's first element
  ir::Type type;       // the access's type, lanes included
};

llvm::Value* load_one(FunctionState& state, const Access& access, llvm::Value* index);
llvm::Value* load_consecutive(FunctionState& state, const Access& access, llvm::Value* index, llvm::Value* mask);
// Loads lanes that are `stride` elements apart (may be negative or zero). `interleaved` is the range to load instead of
// the lanes' own, or null if the load shares no range.
llvm::Value* load_strided(FunctionState& state, const Access& access, llvm::Value* index, std::int64_t stride,
                          const InterleavedRange* interleaved);
llvm::Value* gather(FunctionState& state, const Access& access, llvm::Value* indices, llvm::Value* mask);

void store_one(FunctionState& state, const Access& access, llvm::Value* index, llvm::Value* value);
void store_consecutive(FunctionState& state, const Access& access, llvm::Value* index, llvm::Value* value,
                       llvm::Value* mask);
void store_strided(FunctionState& state, const Access& access, llvm::Value* index, std::int64_t stride,
                   llvm::Value* value);
// Lanes that write the same element do so in lane order.
void scatter(FunctionState& state, const Access& access, llvm::Value* indices, llvm::Value* value, llvm::Value* mask);

}  // namespace ferry::codegen
