#include "crosscompile/codegen/llvm/plan/instance.h"

#include "crosscompile/ir/error.h"

namespace ferry::codegen {

InstanceLayout::InstanceLayout(llvm::Module& module, const FunctionInfo& function, const CInterface& interface)
    : instance_(llvm::StructType::getTypeByName(module.getContext(), "instance")),
      init_arguments_(interface.init.size()) {
  if (instance_ == nullptr) throw InternalError("the exported runtime has no type of instances");
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types{instance_};
  for (const CArgument& argument : interface.init) {
    types.push_back(argument.kind == CArgumentKind::size ? static_cast<llvm::Type*>(llvm::Type::getInt64Ty(context))
                                                         : llvm::PointerType::getUnqual(context));
  }
  types.insert(types.end(), function.persistent.size(), llvm::PointerType::getUnqual(context));
  whole_ = llvm::StructType::get(context, types);
  const std::uint64_t bytes = module.getDataLayout().getTypeAllocSize(whole_).getFixedValue();
  bytes_ = (bytes + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
}

llvm::StructType* InstanceLayout::api() const { return llvm::cast<llvm::StructType>(instance_->getElementType(0)); }

llvm::Value* InstanceLayout::field(llvm::IRBuilder<>& b, llvm::Value* instance, InstanceField field) const {
  return b.CreateStructGEP(instance_, instance, static_cast<unsigned>(field));
}

llvm::Value* InstanceLayout::load(llvm::IRBuilder<>& b, llvm::Value* instance, InstanceField wanted) const {
  return b.CreateLoad(instance_->getElementType(static_cast<unsigned>(wanted)), field(b, instance, wanted));
}

void InstanceLayout::store(llvm::IRBuilder<>& b, llvm::Value* instance, InstanceField wanted,
                           llvm::Value* value) const {
  b.CreateStore(value, field(b, instance, wanted));
}

llvm::Value* InstanceLayout::kept_argument(llvm::IRBuilder<>& b, llvm::Value* instance,
                                           std::size_t init_argument) const {
  return b.CreateStructGEP(whole_, instance, static_cast<unsigned>(1 + init_argument));
}

llvm::Value* InstanceLayout::persistent(llvm::IRBuilder<>& b, llvm::Value* instance, std::size_t index) const {
  return b.CreateStructGEP(whole_, instance, static_cast<unsigned>(1 + init_arguments_ + index));
}

}  // namespace ferry::codegen
