// Splits vectors into the sizes that an instruction takes, and joins them again.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

// Returns `count` lanes from `first` on; lanes beyond the end are poison.
llvm::Value* piece_of(FunctionState& state, llvm::Value* vector, std::uint32_t first, std::uint32_t count);
// Concatenates the pieces, all of one size, and cuts the result off after `lanes`.
llvm::Value* joined(FunctionState& state, llvm::ArrayRef<llvm::Value*> pieces, std::uint32_t lanes);

}  // namespace ferry::codegen
