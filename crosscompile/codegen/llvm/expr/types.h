// Converts IR types to LLVM types. bool is i1 in registers and a byte in memory. Narrow floats that the target cannot
// compute with are only copied, and are represented by 16-bit integers.
#pragma once

#include "crosscompile/codegen/llvm/state.h"

namespace ferry::codegen {

llvm::Type* register_type(ModuleState& module, ir::Type type);
llvm::Type* memory_type(ModuleState& module, ir::Type type);
// Returns half for f16 and bfloat for bf16, whatever the target supports.
llvm::Type* float_type(ModuleState& module, ir::Type type);
bool is_moved_as_bits(const ModuleState& module, DType type);

llvm::Constant* int_constant(ModuleState& module, ir::Type type, std::int64_t value);
llvm::Constant* float_constant(ModuleState& module, ir::Type type, double value);
// Returns 0, 1, 2, ... in the lanes.
llvm::Constant* lane_numbers(ModuleState& module, ir::Type type);

// Convert between the representations in registers and in memory.
llvm::Value* to_memory(FunctionState& state, ir::Type type, llvm::Value* value);
llvm::Value* from_memory(FunctionState& state, ir::Type type, llvm::Value* value);

}  // namespace ferry::codegen
