// IR types as LLVM types. bool is i1 in registers and a byte in memory. Narrow floats that the target cannot compute
// with are only moved, so 16-bit integers stand for them.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Type* register_type(ModuleState& module, ir::Type type);
llvm::Type* memory_type(ModuleState& module, ir::Type type);
// f16 as half, bf16 as bfloat, whatever the target can do.
llvm::Type* float_type(ModuleState& module, ir::Type type);
bool is_moved_as_bits(const ModuleState& module, DType type);

llvm::Constant* int_constant(ModuleState& module, ir::Type type, std::int64_t value);
llvm::Constant* float_constant(ModuleState& module, ir::Type type, double value);
// 0, 1, 2, ... in each lane.
llvm::Constant* lane_numbers(ModuleState& module, ir::Type type);

// Between what registers and what memory hold.
llvm::Value* to_memory(FunctionState& state, ir::Type type, llvm::Value* value);
llvm::Value* from_memory(FunctionState& state, ir::Type type, llvm::Value* value);

}  // namespace ferry::codegen
