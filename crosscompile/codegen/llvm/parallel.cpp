#include "crosscompile/codegen/llvm/parallel.h"

#include "crosscompile/analysis/work_estimate.h"
#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/function.h"
#include "crosscompile/codegen/llvm/memory/workspace.h"
#include "crosscompile/codegen/llvm/runtime_slots.h"
#include "crosscompile/codegen/llvm/statements.h"
#include "crosscompile/codegen/llvm/tiles.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "ferry/operators.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

// The values that the body needs from outside, in the order of the closure's fields.
struct Closure {
  std::vector<ir::BufferRef> buffers;
  std::vector<ir::Expr> variables;
  Value* min;  // the loop's first index
  std::vector<Value*> fields;
  llvm::StructType* type = nullptr;
};

Closure make_closure(FunctionState& state, const ir::For& node, Value* min) {
  Closure closure{ir::used_buffers(node.body), ir::free_vars(node.body), min, {}, nullptr};
  // The loop's own variable, and sizes that are not used, have no value outside.
  std::erase_if(closure.variables, [&](const ir::Expr& var) { return !state.values.contains(var.get()); });
  closure.fields = {state.runtime, min};
  if (state.call_block != nullptr) closure.fields.push_back(state.call_block);
  for (const ir::BufferRef& buffer : closure.buffers) closure.fields.push_back(state.buffers.at(buffer.get()));
  for (const ir::Expr& var : closure.variables) closure.fields.push_back(state.values.at(var.get()));
  std::vector<llvm::Type*> types;
  for (const Value* field : closure.fields) types.push_back(field->getType());
  closure.type = llvm::StructType::get(state.context(), types);
  return closure;
}

// Returns whether the value needs a field, which constants do not.
bool needs_field(const Value* field) { return !llvm::isa<llvm::Constant>(field); }

Value* store_closure(FunctionState& state, const Closure& closure) {
  const llvm::Align alignment = state.module.module.getDataLayout().getABITypeAlign(closure.type);
  llvm::AllocaInst* memory = state.entry_alloca(closure.type, alignment, "closure");
  for (unsigned i = 0; i < closure.fields.size(); ++i) {
    if (!needs_field(closure.fields[i])) continue;
    state.builder.CreateStore(closure.fields[i], state.builder.CreateStructGEP(closure.type, memory, i));
  }
  return memory;
}

// Initialises the body's state from the closure.
void load_closure(FunctionState& outer, FunctionState& inner, const Closure& closure, Value* memory, Value** min) {
  llvm::IRBuilder<>& b = inner.builder;
  unsigned next = 0;
  const auto field = [&]() -> Value* {
    Value* value = closure.fields[next];
    const unsigned index = next++;
    if (!needs_field(value)) return value;
    llvm::LoadInst* load = b.CreateLoad(value->getType(), b.CreateStructGEP(closure.type, memory, index));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(inner.context(), {}));
    return load;
  };
  inner.runtime = field();
  *min = field();
  if (outer.call_block != nullptr) inner.call_block = field();
  for (const ir::BufferRef& buffer : closure.buffers) {
    Value* pointer = field();
    const bool is_aligned = inner.module.aligns_tensors || buffer->scope != ir::Scope::parameter;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer); load != nullptr && is_aligned) mark_aligned(load);
    inner.buffers[buffer.get()] = pointer;
  }
  for (const ir::Expr& var : closure.variables) inner.values[var.get()] = field();
  inner.ranges = outer.ranges;
}

llvm::Function* make_body(FunctionState& outer, const ir::For& node, const Closure& closure) {
  llvm::IRBuilder<>& b = outer.builder;
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), {b.getInt64Ty(), b.getInt64Ty(), b.getPtrTy()}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                          outer.function->getName() + ".parallel", outer.module.module);
  set_function_attributes(outer.module, function);
  function->addParamAttr(2, llvm::Attribute::NoAlias);
  function->addParamAttr(2, llvm::Attribute::ReadOnly);

  AliasScopes aliases(outer.aliases, node.body);
  FunctionState inner(outer.module, outer.source, aliases, function);
  inner.in_parallel = true;
  Value* min = nullptr;
  load_closure(outer, inner, closure, function->getArg(2), &min);
  emit_workspace_blocks(inner, node.body);
  const ValueRange range = range_of_loop(outer.ranges, node);
  inner.ranges[node.var.get()] = range;
  Value* begin = inner.builder.CreateAdd(min, function->getArg(0));
  Value* end = inner.builder.CreateAdd(min, function->getArg(1));
  emit_loop(inner, begin, end, range, node.var.as<ir::Var>()->name, [&](Value* variable) {
    inner.values[node.var.get()] = variable;
    emit_stmt(inner, node.body);
  });
  inner.builder.CreateRet(inner.builder.getInt32(0));
  release_tiles(inner);
  return function;
}

Value* grain_of(FunctionState& state, const ir::For& node) {
  llvm::IRBuilder<>& b = state.builder;
  Value* one = b.getInt64(1);
  Value* work = emit_expr(state, analysis::work_of_iteration(node, state.module.target));
  Value* at_least_one = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, work, one);
  Value* grain = b.CreateUDiv(b.getInt64(analysis::kWorkPerChunk), at_least_one);
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, grain, one);
}

}  // namespace

void emit_parallel(FunctionState& state, const ir::For& node) {
  llvm::IRBuilder<>& b = state.builder;
  Value* min = emit_expr(state, node.min);
  Value* extent = emit_expr(state, node.extent);
  const Closure closure = make_closure(state, node, min);
  llvm::Function* body = make_body(state, node, closure);

  llvm::BasicBlock* run = state.new_block("parallel");
  llvm::BasicBlock* after = state.new_block("parallel.end");
  b.CreateCondBr(b.CreateICmpSGT(extent, b.getInt64(0)), run, after);
  b.SetInsertPoint(run);
  Value* memory = store_closure(state, closure);
  Value* result = call_runtime(state, RuntimeSlot::parallel_for, {extent, grain_of(state, node), body, memory});
  forget_tiles(state);
  emit_return_if(state, b.CreateIsNotNull(result), result);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

}  // namespace ferry::codegen
