#include "crosscompile/codegen/llvm/function.h"

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/workspace.h"
#include "crosscompile/codegen/llvm/statements.h"
#include "crosscompile/codegen/llvm/target/machine.h"
#include "crosscompile/codegen/llvm/tiles.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/passed_parameters.h"
#include "crosscompile/ir/symbol.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

// Loads args[index].
llvm::LoadInst* load_argument(FunctionState& state, unsigned index) {
  llvm::IRBuilder<>& b = state.builder;
  Value* place = b.CreateConstInBoundsGEP1_32(b.getPtrTy(), state.function->getArg(0), index);
  llvm::LoadInst* pointer = b.CreateLoad(b.getPtrTy(), place);
  pointer->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(state.context(), {}));
  return pointer;
}

Value* load_scalar(FunctionState& state, unsigned index, ir::Type type) {
  Value* raw = state.builder.CreateLoad(memory_type(state.module, type), load_argument(state, index));
  return from_memory(state, type, raw);
}

void load_arguments(FunctionState& state) {
  unsigned index = 0;
  const std::vector<bool> passed = ir::passed_parameters(state.source);
  for (std::size_t p = 0; p < passed.size(); ++p) {
    if (!passed[p]) continue;
    const ir::FunctionParameter& parameter = state.source.parameters[p];
    if (parameter.kind == ParameterKind::scalar) {
      state.values[parameter.scalar.get()] = load_scalar(state, index++, parameter.scalar.type());
      continue;
    }
    llvm::LoadInst* pointer = load_argument(state, index++);
    pointer->setName(parameter.name);
    if (state.module.aligns_tensors) mark_aligned(pointer);
    state.buffers[parameter.buffer.get()] = pointer;
  }
  for (const ir::Expr& symbol : state.source.symbols) {
    Value* value = load_scalar(state, index++, ir::kIndex);
    value->setName(symbol.as<ir::Var>()->name);
    state.values[symbol.get()] = value;
  }
}

}  // namespace

void note_sizes(FunctionState& state) {
  if (state.module.target.pointer_bits == 32) {
    for (const ir::Expr& symbol : state.source.symbols) state.ranges[symbol.get()] = {-kMaxNarrowSize, kMaxNarrowSize};
  }
  // A symbol that is a dimension of an input is a size, and so not negative.
  for (const ir::FunctionParameter& parameter : state.source.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    for (const ir::Expr& extent : parameter.buffer->shape) {
      if (extent.as<ir::Var>() != nullptr) state.ranges[extent.get()].min = 0;
    }
  }
}

void set_function_attributes(const ModuleState& module, llvm::Function* function) {
  function->setDoesNotThrow();
  function->addFnAttr("target-cpu", machine_cpu(module.target));
  function->addFnAttr("target-features", feature_string(module.target));
  if (module.target.capabilities.asks_for_vector_width) {
    const std::string width = std::to_string(module.target.vector_bits);
    function->addFnAttr("prefer-vector-width", width);
    function->addFnAttr("min-legal-vector-width", width);
  }
  function->addFnAttr("no-trapping-math", "true");
}

void mark_aligned(llvm::LoadInst* pointer) {
  llvm::LLVMContext& context = pointer->getContext();
  auto* bytes = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), 64);
  pointer->setMetadata(llvm::LLVMContext::MD_align, llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(bytes)));
}

void refuse_second(const ir::Function& function) {
  throw CompileError("two functions are called '" + function.name + "'");
}

void emit_function(ModuleState& module, const ir::Function& function) {
  if (!function.flat) throw InternalError(function.name + ": code generation expects what passes/flatten.h makes");
  llvm::LLVMContext& context = module.context;
  llvm::Type* pointer = llvm::PointerType::getUnqual(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer}, false);
  const std::string symbol = ir::function_symbol(function);
  if (module.module.getFunction(symbol) != nullptr) refuse_second(function);
  auto* kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module.module);
  set_function_attributes(module, kernel);
  kernel->addParamAttr(0, llvm::Attribute::NoAlias);
  kernel->addParamAttr(0, llvm::Attribute::ReadOnly);

  AliasScopes aliases(context, function);
  FunctionState state(module, function, aliases, kernel);
  state.runtime = kernel->getArg(1);
  note_sizes(state);
  load_arguments(state);
  emit_workspace_blocks(state, function.body);
  emit_stmt(state, function.body);
  state.builder.CreateRet(state.builder.getInt32(0));
  release_tiles(state);
}

}  // namespace ferry::codegen
