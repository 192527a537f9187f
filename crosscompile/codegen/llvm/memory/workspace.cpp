#include "crosscompile/codegen/llvm/memory/workspace.h"

#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/local_masks.h"
#include "crosscompile/codegen/llvm/runtime_slots.h"
#include "crosscompile/codegen/llvm/statements.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <bit>

namespace ferry::codegen {
namespace {

using llvm::Value;

constexpr std::uint64_t kAlignment = 64;  // where tensors and all workspaces begin

std::uint64_t constant_elements(const ir::Buffer& buffer) {
  std::uint64_t count = 1;
  for (const ir::Expr& extent : buffer.shape) {
    const std::int64_t* value = ir::as_int(extent);
    if (value == nullptr || *value < 0) throw InternalError("local array '" + buffer.name + "' has no constant size");
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(*value), &count)) {
      throw InternalError("local array '" + buffer.name + "' is too large");
    }
  }
  return count;
}

void emit_local(FunctionState& state, const ir::Allocate& node) {
  llvm::IRBuilder<>& b = state.builder;
  const ir::Buffer& buffer = *node.buffer;
  const std::uint64_t elements = elements_of_whole_vectors(node, std::max<std::uint64_t>(constant_elements(buffer), 1));
  llvm::Type* type = llvm::ArrayType::get(memory_type(state.module, buffer.dtype), elements);
  const std::uint64_t bytes = elements * dtype_bytes(buffer.dtype);
  const std::uint64_t alignment = std::min(kAlignment, std::bit_ceil(bytes));
  llvm::AllocaInst* memory = state.entry_alloca(type, llvm::Align(alignment), buffer.name);
  state.buffers[node.buffer.get()] = memory;
  state.local_elements[node.buffer.get()] = elements;
  // The contents do not persist from one iteration of an enclosing loop to the next.
  b.CreateLifetimeStart(memory, b.getInt64(bytes));
  emit_stmt(state, node.body);
  b.CreateLifetimeEnd(memory, b.getInt64(bytes));
}

void emit_placed(FunctionState& state, const ir::Allocate& node) {
  Value* block = node.workspace == ir::WorkspaceKind::call ? state.call_block : state.thread_block;
  if (block == nullptr) throw InternalError("'" + node.buffer->name + "' lies in a block that was not asked for");
  Value* offset = emit_expr(state, node.offset);
  if (state.module.target.pointer_bits == 32) offset = state.builder.CreateTrunc(offset, state.builder.getInt32Ty());
  state.buffers[node.buffer.get()] =
      state.builder.CreateInBoundsGEP(state.builder.getInt8Ty(), block, offset, node.buffer->name);
  emit_stmt(state, node.body);
}

struct BlockUse : ir::Visitor {
  explicit BlockUse(bool enter_parallel_loops) : enter_parallel(enter_parallel_loops) {}
  bool enter_parallel;
  bool call = false, thread = false;
  unsigned parallel_depth = 0;

  using ir::Visitor::visit_node;
  void visit_node(const ir::Allocate& node) override {
    if (node.offset.defined()) {
      if (node.workspace == ir::WorkspaceKind::call) call = true;
      if (node.workspace == ir::WorkspaceKind::thread && (parallel_depth == 0 || enter_parallel)) thread = true;
    }
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::For& node) override {
    const unsigned inside = node.for_kind == ir::ForKind::parallel ? 1 : 0;
    parallel_depth += inside;
    ir::Visitor::visit_node(node);
    parallel_depth -= inside;
  }
};

Value* ask_for(FunctionState& state, ferry_workspace_kind kind, const char* name) {
  llvm::CallInst* block = call_runtime(state, RuntimeSlot::workspace, {state.builder.getInt32(kind)});
  block->setName(name);
  block->addRetAttr(llvm::Attribute::getWithAlignment(state.context(), llvm::Align(kAlignment)));
  return block;
}

}  // namespace

void emit_allocate(FunctionState& state, const ir::Allocate& node) {
  if (node.buffer->scope == ir::Scope::shared)
    throw CompileError("'" + node.buffer->name +
                       "': expected a scope that a CPU has (global, local or register), got "
                       "'shared', which is a GPU's (targets cuda and opencl)");
  if (node.offset.defined()) return emit_placed(state, node);
  if (node.buffer->scope != ir::Scope::local) {
    throw InternalError("'" + node.buffer->name + "' has no place in the workspace; plan_workspace must stand before");
  }
  emit_local(state, node);
}

void emit_workspace_blocks(FunctionState& state, const ir::Stmt& body) {
  BlockUse use(state.in_parallel);
  use.visit(body);
  if (use.call && state.call_block == nullptr) state.call_block = ask_for(state, FERRY_WORKSPACE_CALL, "call_block");
  if (use.thread) state.thread_block = ask_for(state, FERRY_WORKSPACE_THREAD, "thread_block");
}

}  // namespace ferry::codegen
