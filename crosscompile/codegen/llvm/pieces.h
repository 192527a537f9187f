// Vectors taken apart into the sizes that an instruction is for, and put together again.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// `count` lanes from `first` on; those beyond the end are poison.
llvm::Value* piece_of(FunctionState& state, llvm::Value* vector, std::uint32_t first, std::uint32_t count);
// The pieces, all of one size, side by side, cut off after `lanes`.
llvm::Value* joined(FunctionState& state, llvm::ArrayRef<llvm::Value*> pieces, std::uint32_t lanes);

}  // namespace ferry::codegen
