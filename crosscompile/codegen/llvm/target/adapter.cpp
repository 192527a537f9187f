#include "crosscompile/codegen/llvm/target/adapter.h"

#include "crosscompile/codegen/llvm/target/machine.h"
#include "crosscompile/target/abi.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>

namespace ferry::codegen {
namespace {

llvm::Type* c_type(llvm::IRBuilder<>& b, DType type) {
  switch (type) {
    case DType::f16: return b.getHalfTy();
    case DType::bf16: return b.getBFloatTy();
    case DType::f32: return b.getFloatTy();
    case DType::f64: return b.getDoubleTy();
    case DType::i8:
    case DType::u8:
    case DType::boolean: return b.getInt8Ty();
    case DType::i16:
    case DType::u16: return b.getInt16Ty();
    case DType::i32:
    case DType::u32: return b.getInt32Ty();
    case DType::i64:
    case DType::u64: return b.getInt64Ty();
  }
  return b.getInt8Ty();
}

// Returns how the C ABIs extend an integer narrower than a register: RISC-V sign-extends all 32-bit ones.
llvm::Attribute::AttrKind extension(DType type, const Target& target) {
  const std::size_t bytes = dtype_bytes(type);
  if (is_float(type) || bytes > 4) return llvm::Attribute::None;
  if (bytes == 4) return abi_of(target).sign_extends_32_bits ? llvm::Attribute::SExt : llvm::Attribute::None;
  return is_signed_int(type) ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
}

// On 32-bit ARM, unwind tables refer to these functions even in objects that never throw. They are never called. They
// are weak, since a module may have several adapters.
void define_unwinders(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  for (const char* name : {"__aeabi_unwind_cpp_pr0", "__aeabi_unwind_cpp_pr1", "__aeabi_unwind_cpp_pr2"}) {
    auto* function = llvm::Function::Create(type, llvm::Function::WeakAnyLinkage, name, module);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    function->setDoesNotThrow();
    llvm::IRBuilder<>(llvm::BasicBlock::Create(context, "", function)).CreateRetVoid();
  }
}

}  // namespace

std::vector<std::uint8_t> emit_adapter(const FunctionInfo& function, std::span<const PassedArgument> passed,
                                       const std::string& c_name, bool returns_status, bool elsewhere,
                                       const Target& target) {
  llvm::LLVMContext context;
  llvm::Module module("adapter", context);
  const std::unique_ptr<llvm::TargetMachine> machine = make_machine(target);
  configure_module(module, *machine, target);
  llvm::IRBuilder<> b(context);
  auto* kernel_type = llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  auto* kernel = llvm::Function::Create(kernel_type, llvm::Function::ExternalLinkage,
                                        native_code(function).value().symbol, module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", kernel));

  std::vector<llvm::Type*> types;
  std::vector<llvm::Value*> values;
  std::vector<llvm::Attribute::AttrKind> extensions;
  const auto packed = [&](std::size_t index) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), kernel->getArg(0), index));
  };
  const auto pass = [&](llvm::Value* value, llvm::Attribute::AttrKind kind) {
    types.push_back(value->getType());
    values.push_back(value);
    extensions.push_back(kind);
  };
  for (const PassedArgument& argument : passed) {
    if (argument.is_size) {
      llvm::Value* size = b.CreateLoad(b.getInt64Ty(), packed(function.parameters.size() + argument.index));
      pass(b.CreateTrunc(size, c_type(b, argument.dtype)), extension(argument.dtype, target));
      continue;
    }
    const ParameterInfo& parameter = function.parameters[argument.index];
    llvm::Value* place = packed(argument.index);
    if (parameter.kind == ParameterKind::tensor) {
      pass(place, llvm::Attribute::None);
    } else {
      pass(b.CreateLoad(c_type(b, parameter.dtype), place), extension(parameter.dtype, target));
    }
  }
  auto* result_type = returns_status ? static_cast<llvm::Type*>(b.getInt32Ty()) : b.getVoidTy();
  auto* type = llvm::FunctionType::get(result_type, types, false);
  auto* callee = llvm::Function::Create(type, llvm::Function::ExternalLinkage, c_name, module);
  // A callee linked next to the adapter needs no entry in the global offset table.
  if (!elsewhere) callee->setVisibility(llvm::GlobalValue::HiddenVisibility);
  llvm::CallInst* call = b.CreateCall(type, callee, values);
  for (unsigned i = 0; i < extensions.size(); ++i) {
    if (extensions[i] != llvm::Attribute::None) call->addParamAttr(i, extensions[i]);
  }
  b.CreateRet(returns_status ? static_cast<llvm::Value*>(call) : b.getInt32(0));
  kernel->setDoesNotThrow();
  if (abi_of(target).has_unwind_helpers) define_unwinders(module);
  const std::string object = emit_file(module, *machine, llvm::CodeGenFileType::ObjectFile);
  return {object.begin(), object.end()};
}

}  // namespace ferry::codegen
