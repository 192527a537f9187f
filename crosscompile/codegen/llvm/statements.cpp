#include "crosscompile/codegen/llvm/statements.h"

#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/gpu/nvptx.h"
#include "crosscompile/codegen/llvm/instructions.h"
#include "crosscompile/codegen/llvm/memory/interleaved_loads.h"
#include "crosscompile/codegen/llvm/memory/memory.h"
#include "crosscompile/codegen/llvm/memory/repeated_loads.h"
#include "crosscompile/codegen/llvm/memory/transpose.h"
#include "crosscompile/codegen/llvm/memory/workspace.h"
#include "crosscompile/codegen/llvm/parallel.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/prefetch.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace ferry::codegen {
namespace {

using llvm::Value;

void emit_serial(FunctionState& state, const ir::For& node) {
  Value* begin = emit_expr(state, node.min);
  Value* end = state.builder.CreateAdd(begin, emit_expr(state, node.extent));
  const ValueRange range = range_of_loop(state.ranges, node);
  state.ranges[node.var.get()] = range;
  emit_loop(state, begin, end, range, node.var.as<ir::Var>()->name, [&](Value* variable) {
    state.values[node.var.get()] = variable;
    emit_stmt(state, node.body);
  });
}

void emit_for(FunctionState& state, const ir::For& node) {
  switch (node.for_kind) {
    case ir::ForKind::serial: return emit_serial(state, node);
    case ir::ForKind::parallel:
      // The runtime runs nested parallel loops inline; a plain loop does the same without the call.
      return state.in_parallel ? emit_serial(state, node) : emit_parallel(state, node);
    case ir::ForKind::vectorized:
    case ir::ForKind::unrolled:
    case ir::ForKind::combine: break;
    case ir::ForKind::block_x:
    case ir::ForKind::block_y:
    case ir::ForKind::block_z:
    case ir::ForKind::thread_x:
    case ir::ForKind::thread_y:
    case ir::ForKind::thread_z:
    case ir::ForKind::vthread:
      throw CompileError("expected loops that a CPU has, got one over " + std::string(ir::kind_name(node.for_kind)) +
                         ": blocks and threads are a GPU's (targets cuda and opencl); use 'parallel' and 'vectorize'");
  }
  throw InternalError("a vectorized, unrolled or combining loop reached code generation; its pass must stand before");
}

void emit_if(FunctionState& state, const ir::If& node) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::BasicBlock* then_block = state.new_block("if.then");
  llvm::BasicBlock* end_block = state.new_block("if.end");
  llvm::BasicBlock* else_block = node.on_false.defined() ? state.new_block("if.else") : end_block;
  b.CreateCondBr(emit_expr(state, node.condition), then_block, else_block);
  b.SetInsertPoint(then_block);
  emit_stmt(state, node.on_true);
  b.CreateBr(end_block);
  if (node.on_false.defined()) {
    b.SetInsertPoint(else_block);
    emit_stmt(state, node.on_false);
    b.CreateBr(end_block);
  }
  b.SetInsertPoint(end_block);
}

void emit_let_stmt(FunctionState& state, const ir::LetStmt& node) {
  const ir::ExprNode* var = node.var.get();
  state.values[var] = emit_expr(state, node.value);
  state.ranges[var] = range_of(state.ranges, node.value);
  emit_stmt(state, node.body);
}

void emit_evaluate(FunctionState& state, const ir::Evaluate& node) {
  const auto* call = node.value.as<ir::Call>();
  if (call == nullptr) {
    emit_expr(state, node.value);
    return;
  }
  switch (call->callee.op) {
    case ir::CallOp::barrier: return emit_barrier(state);
    case ir::CallOp::prefetch: return emit_prefetch(state, *ir::prefetched(node));
    case ir::CallOp::commit_copies:
    case ir::CallOp::wait_copies: return emit_copy_order(state, node);
    case ir::CallOp::math:
    case ir::CallOp::external:
    case ir::CallOp::intrinsic:
    case ir::CallOp::bitcast:
    case ir::CallOp::dot:
    case ir::CallOp::scale:
    case ir::CallOp::shuffle_xor:
    case ir::CallOp::address_of: emit_expr(state, node.value); return;
  }
}

void emit_assert(FunctionState& state, const ir::Assert& node) {
  Value* failed = state.builder.CreateNot(emit_expr(state, node.condition));
  emit_return_if(state, failed, state.builder.getInt32(node.message + 1));
}

void emit_block(FunctionState& state, const ir::Block& node) {
  std::span<const ir::Stmt> rest = node.body;
  std::size_t stores = 0;  // at the beginning of `rest`, whose interleaved loads are known
  while (!rest.empty()) {
    if (stores == 0) {
      stores = find_interleaved_loads(state, rest);
      find_repeated_loads(state, rest, stores);
    }
    std::size_t emitted = emit_strided_stores(state, rest);
    if (emitted == 0) {
      if (const auto* store = rest.front().as<ir::Store>())
        emit_store(state, *store);
      else
        emit_stmt(state, rest.front());
      emitted = 1;
    }
    rest = rest.subspan(emitted);
    stores -= std::min(stores, emitted);
  }
}

}  // namespace

void emit_loop(FunctionState& state, Value* begin, Value* end, const ValueRange& range, const llvm::Twine& name,
               const std::function<void(Value*)>& body) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* loop = state.new_block("loop");
  llvm::BasicBlock* after = state.new_block("loop.end");
  // A 64-bit counter takes two registers on a 32-bit machine.
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  const bool narrow = state.module.target.pointer_bits == 32 && range.within(-kMax, kMax - 1);
  llvm::Type* type = narrow ? b.getInt32Ty() : b.getInt64Ty();
  Value* first = b.CreateTrunc(begin, type);
  Value* limit = b.CreateTrunc(end, type);
  // The test is at the end of the loop, where passes that hoist code expect it.
  b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode* variable = b.CreatePHI(type, 2, name);
  variable->addIncoming(first, before);
  body(b.CreateSExt(variable, b.getInt64Ty()));
  Value* next = b.CreateNSWAdd(variable, llvm::ConstantInt::get(type, 1));
  variable->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, limit), loop, after);
  b.SetInsertPoint(after);
}

void emit_return_if(FunctionState& state, Value* condition, Value* result) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::BasicBlock* leave = state.new_block("leave");
  llvm::BasicBlock* go_on = state.new_block("go_on");
  b.CreateCondBr(condition, leave, go_on, llvm::MDBuilder(state.context()).createUnlikelyBranchWeights());
  b.SetInsertPoint(leave);
  b.CreateRet(result);
  b.SetInsertPoint(go_on);
}

void emit_stmt(FunctionState& state, const ir::Stmt& stmt) {
  switch (stmt.kind()) {
    case ir::StmtKind::Store:
      find_interleaved_loads(state, {&stmt, 1});
      find_repeated_loads(state, {&stmt, 1}, 1);
      return emit_store(state, *stmt.as<ir::Store>());
    case ir::StmtKind::For: return emit_for(state, *stmt.as<ir::For>());
    case ir::StmtKind::Block: return emit_block(state, *stmt.as<ir::Block>());
    case ir::StmtKind::If: return emit_if(state, *stmt.as<ir::If>());
    case ir::StmtKind::Allocate: return emit_allocate(state, *stmt.as<ir::Allocate>());
    case ir::StmtKind::LetStmt: return emit_let_stmt(state, *stmt.as<ir::LetStmt>());
    case ir::StmtKind::Assert: return emit_assert(state, *stmt.as<ir::Assert>());
    case ir::StmtKind::Evaluate: return emit_evaluate(state, *stmt.as<ir::Evaluate>());
    case ir::StmtKind::InstructionStmt: return emit_instruction(state, *stmt.as<ir::InstructionStmt>());
  }
  throw InternalError("emit_stmt: an unknown kind of statement");
}

}  // namespace ferry::codegen
