// State shared while LLVM IR is emitted: one ModuleState per emission, one FunctionState per LLVM function being filled
// (a kernel, or the outlined body of a parallel loop). Files that emit one kind of node take a FunctionState.
#pragma once

#include "crosscompile/analysis/ranges.h"
#include "crosscompile/codegen/llvm/debug_lines.h"
#include "crosscompile/codegen/llvm/memory/alias_scopes.h"
#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <unordered_map>

namespace ferry::codegen {

using analysis::range_of;
using analysis::range_of_loop;
using analysis::ValueRange;
using analysis::ValueRanges;

// The kind of code that is generated.
enum class CodeKind : std::uint8_t { cpu, nvptx };

struct ModuleState {
  const Target& target;
  CodeKind kind;
  llvm::LLVMContext& context;
  llvm::Module& module;
  DebugLines& lines;
  bool aligns_tensors = true;  // the tensors of a call begin at multiples of 64 bytes

  bool is_nvptx() const { return kind == CodeKind::nvptx; }
};

// The consecutive elements that several strided loads read together: the number of them before the lowest element of
// this load, and the number of all of them.
struct InterleavedRange {
  std::int64_t before = 0;
  std::int64_t elements = 0;
};

struct FunctionState {
  FunctionState(ModuleState& in_module, const ir::Function& from, AliasScopes& scopes, llvm::Function* into)
      : module(in_module), source(from), aliases(scopes), function(into), builder(in_module.context) {
    builder.SetInsertPoint(llvm::BasicBlock::Create(in_module.context, "entry", into));
    builder.SetCurrentDebugLocation(in_module.lines.begin(from, into));
  }

  ModuleState& module;
  const ir::Function& source;
  AliasScopes& aliases;
  llvm::Function* function;
  llvm::IRBuilder<> builder;
  std::unordered_map<const ir::ExprNode*, llvm::Value*> values;             // the values of variables
  std::unordered_map<const ir::Buffer*, llvm::Value*> buffers;              // addresses of their first elements
  std::unordered_map<const ir::Buffer*, std::uint64_t> local_elements;      // those that local arrays have here
  ValueRanges ranges;                                                       // what integer variables may be
  std::unordered_map<const ir::Load*, InterleavedRange> interleaved_loads;  // in the statements being emitted
  std::unordered_map<const ir::Load*, InterleavedRange> repeated_loads;     // the same for repeated groups
  llvm::Value* runtime = nullptr;                                           // ferry_runtime_api*
  llvm::Value* call_block = nullptr;                                        // null when not used here
  llvm::Value* thread_block = nullptr;
  llvm::Value* lane_mask = nullptr;  // lanes whose side of a vector IfThenElse is being evaluated; null: all
  bool in_parallel = false;
  // AMX (tiles.h): the shape for which the tile registers are configured, 0 for none, whether the function uses them,
  // and the tiles of rows of the tile_sums that are being emitted, none outside.
  llvm::AllocaInst* tile_shape = nullptr;
  bool uses_tiles = false;
  std::int64_t first_row_tile = 0, row_tiles = 0;

  llvm::LLVMContext& context() { return module.context; }
  llvm::BasicBlock* new_block(const char* name) { return llvm::BasicBlock::Create(module.context, name, function); }
  // Makes an alloca in the entry block, so that it is executed once and can become registers.
  llvm::AllocaInst* entry_alloca(llvm::Type* type, llvm::Align alignment, const llvm::Twine& name);
};

}  // namespace ferry::codegen
