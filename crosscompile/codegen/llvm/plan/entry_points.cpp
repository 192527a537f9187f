#include "crosscompile/codegen/llvm/plan/entry_points.h"

#include "crosscompile/codegen/llvm/plan/arena_code.h"
#include "crosscompile/codegen/llvm/plan/messages.h"
#include "crosscompile/codegen/llvm/plan/runtime_text.h"
#include "crosscompile/codegen/llvm/plan/steps.h"
#include "crosscompile/codegen/llvm/plan/weights.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/abi.h"
#include "ferry/runtime_api.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

// The type in which C passes a scalar; narrow floats are passed as their bits.
llvm::Type* c_type(llvm::IRBuilder<>& b, DType type) {
  if (type == DType::f32) return b.getFloatTy();
  if (type == DType::f64) return b.getDoubleTy();
  return b.getIntNTy(static_cast<unsigned>(8 * dtype_bytes(type)));
}

class PlanEmitter {
 public:
  PlanEmitter(const ExportedPlan& plan, const Target& target, llvm::Module& module)
      : manifest_(plan.manifest),
        function_(plan.manifest.functions.front()),
        interface_(plan.interface),
        weights_(plan.weights),
        target_(target),
        module_(module),
        layout_(module, function_, interface_),
        b_(module.getContext()),
        mark_(mark_of(plan)) {
    if (weights_.empty() || interface_.has_weights_file) return;
    const llvm::StringRef bytes(reinterpret_cast<const char*>(weights_.data()), weights_.size());
    llvm::Constant* contents = llvm::ConstantDataArray::getRaw(bytes, bytes.size(), b_.getInt8Ty());
    weights_data_ = new llvm::GlobalVariable(module, contents->getType(), true, llvm::GlobalValue::InternalLinkage,
                                             contents, "weights");
    weights_data_->setAlignment(llvm::Align(kMemoryAlignment));
    weights_data_->setSection(".rodata");
  }

  void emit() {
    emit_arena_bytes();
    emit_init();
    emit_run();
    begin("_message", b_.getPtrTy(), {b_.getInt32Ty()});
    emit_message(current_, positive_messages(function_));
  }

 private:
  // Tells instances of this function from other memory.
  static std::uint64_t mark_of(const ExportedPlan& plan) {
    std::string text = plan.interface.name + signature_text(plan.manifest.functions.front());
    text.resize((text.size() + 7) / 8 * 8);
    return checksum({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  }

  void begin(const char* ending, llvm::Type* result, const std::vector<llvm::Type*>& types) {
    current_ = llvm::Function::Create(llvm::FunctionType::get(result, types, false), llvm::Function::ExternalLinkage,
                                      interface_.name + ending, module_);
    current_->setDoesNotThrow();
    if (result->isIntegerTy(32) && abi_of(target_).sign_extends_32_bits) current_->addRetAttr(llvm::Attribute::SExt);
    arguments_ = 0;
  }

  void begin_body() { b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", current_)); }

  llvm::Type* type_of(const CArgument& argument) {
    switch (argument.kind) {
      case CArgumentKind::tensor: return b_.getPtrTy();
      case CArgumentKind::scalar: return c_type(b_, function_.parameters[argument.index].dtype);
      case CArgumentKind::size: return b_.getInt64Ty();
    }
    throw InternalError("expected a kind of argument");
  }

  std::vector<llvm::Type*> types_of(const std::vector<CArgument>& arguments) {
    std::vector<llvm::Type*> types;
    for (const CArgument& argument : arguments) types.push_back(type_of(argument));
    return types;
  }

  Value* next_argument() { return current_->getArg(arguments_++); }

  void refuse(Value* condition, ExportError error) { return_if(b_, condition, b_.getInt32(code_of(error))); }

  Value* is_misaligned(Value* pointer, std::uint64_t alignment) {
    Value* address = b_.CreatePtrToInt(pointer, b_.getInt64Ty());
    return b_.CreateIsNotNull(b_.CreateAnd(address, alignment - 1));
  }

  Value* at(Value* base, Value* offset) { return b_.CreateGEP(b_.getInt8Ty(), base, offset); }

  // The largest number of bytes that can be addressed.
  Value* address_limit() {
    return b_.getInt64(target_.pointer_bits == 32 ? std::uint64_t{INT32_MAX} : std::uint64_t{INT64_MAX});
  }

  void emit_arena_bytes() {
    std::vector<llvm::Type*> types = types_of(interface_.sizes);
    types.push_back(b_.getInt32Ty());
    begin("_arena_bytes", b_.getInt64Ty(), types);
    begin_body();
    std::vector<Value*> symbols;
    for (std::size_t s = 0; s < interface_.sizes.size(); ++s) symbols.push_back(next_argument());
    Value* threads = next_argument();
    Value* impossible =
        b_.CreateOr(b_.CreateICmpSLT(threads, b_.getInt32(1)), b_.CreateICmpSGT(threads, b_.getInt32(kMaxPoolThreads)));
    const auto error = [&](ExportError code) {
      return b_.getInt64(static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(code)}));
    };
    return_if(b_, impossible, error(ExportError::THREADS));
    Value* count = b_.CreateSExt(threads, b_.getInt64Ty());
    SizeCode sizes(b_, symbols);
    sizes.define(function_.init);
    const PersistentPlaces kept = place_persistent(sizes, b_, function_, layout_.bytes());
    const WorkspacePlaces of_init = place_workspaces(sizes, b_, function_.init, kept.end, count);
    sizes.define(function_.plan);
    const WorkspacePlaces of_run = place_workspaces(sizes, b_, function_.plan, kept.end, count);
    Value* bytes = sizes.apply(ManifestOp::max, of_init.end, of_run.end);
    sizes.refuse_if(b_.CreateICmpSGT(bytes, address_limit()));
    return_if(b_, sizes.is_invalid(), error(ExportError::SIZES));
    b_.CreateRet(bytes);
  }

  // Whether one of the pointers to tensors with elements is null or misaligned.
  struct PointerChecks {
    Value* is_null;
    Value* is_misaligned;
  };

  // Adds the checks of a tensor's size and pointer.
  void check_tensor(SizeCode& sizes, PointerChecks& checks, const ParameterInfo& parameter, Value* pointer) {
    Value* bytes = sizes.tensor_bytes(parameter);
    sizes.refuse_if(b_.CreateICmpSGT(bytes, address_limit()));
    // A tensor without elements may be anywhere.
    Value* is_used = b_.CreateICmpSGT(bytes, b_.getInt64(0));
    checks.is_null = b_.CreateOr(checks.is_null, b_.CreateAnd(is_used, b_.CreateIsNull(pointer)));
    Value* misaligned = b_.CreateAnd(is_used, is_misaligned(pointer, dtype_bytes(parameter.dtype)));
    checks.is_misaligned = b_.CreateOr(checks.is_misaligned, misaligned);
  }

  void refuse_pointers(const PointerChecks& checks) {
    refuse(checks.is_null, ExportError::NULL_POINTER);
    refuse(checks.is_misaligned, ExportError::TENSOR_ALIGNMENT);
  }

  Value* check_weights(Value* weights, Value* bytes) {
    refuse(b_.CreateIsNull(weights), ExportError::NULL_POINTER);
    refuse(b_.CreateOr(is_misaligned(weights, kMemoryAlignment), b_.CreateICmpNE(bytes, b_.getInt64(weights_.size()))),
           ExportError::WEIGHTS);
    Value* sum = b_.CreateCall(module_.getFunction("checksum"), {weights, bytes});
    refuse(b_.CreateICmpNE(sum, b_.getInt64(checksum(weights_))), ExportError::WEIGHTS);
    return weights;
  }

  // Returns the number of threads of a pool that may be null, which is 1 then.
  Value* check_threads(Value* pool) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* given = llvm::BasicBlock::Create(b_.getContext(), "pool", current_);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "threads", current_);
    b_.CreateCondBr(b_.CreateIsNull(pool), after, given);
    b_.SetInsertPoint(given);
    refuse(is_misaligned(pool, 8), ExportError::THREADS);
    auto* type = llvm::StructType::getTypeByName(module_.getContext(), "pool");
    Value* mark = b_.CreateLoad(b_.getInt64Ty(), b_.CreateStructGEP(type, pool, 0));
    refuse(b_.CreateICmpNE(mark, b_.getInt64(kPoolMagic)), ExportError::THREADS);
    Value* threads = b_.CreateLoad(b_.getInt64Ty(), b_.CreateStructGEP(type, pool, 1));
    llvm::BasicBlock* checked = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    llvm::PHINode* count = b_.CreatePHI(b_.getInt64Ty(), 2);
    count->addIncoming(b_.getInt64(1), before);
    count->addIncoming(threads, checked);
    return count;
  }

  void store_api(Value* instance) {
    llvm::StructType* api = layout_.api();
    Value* table = layout_.field(b_, instance, InstanceField::api);
    const auto set = [&](unsigned index, Value* value) {
      b_.CreateStore(value, b_.CreateStructGEP(api, table, index));
    };
    const std::uint64_t bytes = module_.getDataLayout().getTypeAllocSize(api).getFixedValue();
    set(0, b_.getInt32(static_cast<std::uint32_t>(bytes)));
    set(1, b_.getInt32(FERRY_ABI_VERSION));
    set(2, module_.getFunction("parallel_for"));
    set(3, module_.getFunction("workspace"));
    set(4, module_.getFunction("print"));
    set(5, module_.getFunction("query"));
  }

  std::vector<Value*> constants(Value* weights) {
    std::vector<Value*> addresses;
    const std::vector<std::uint64_t> places = blob_places(manifest_);
    for (const Constant& constant : manifest_.constants)
      addresses.push_back(at(weights, b_.getInt64(places[constant.blob] + constant.offset)));
    return addresses;
  }

  std::vector<Value*> load_persistent(Value* instance) {
    std::vector<Value*> addresses;
    for (std::size_t i = 0; i < function_.persistent.size(); ++i)
      addresses.push_back(b_.CreateLoad(b_.getPtrTy(), layout_.persistent(b_, instance, i)));
    return addresses;
  }

  // Gives the instance the workspaces of its threads.
  void set_thread_workspaces(Value* instance, const WorkspacePlaces& places) {
    Value* none = llvm::ConstantPointerNull::get(b_.getPtrTy());
    Value* some = b_.CreateICmpSGT(places.thread_stride, b_.getInt64(0));
    layout_.store(b_, instance, InstanceField::thread_workspaces,
                  b_.CreateSelect(some, at(instance, places.threads_offset), none));
    layout_.store(b_, instance, InstanceField::thread_stride, places.thread_stride);
  }

  void emit_init() {
    std::vector<llvm::Type*> types{b_.getPtrTy(), b_.getInt64Ty()};
    if (interface_.has_weights_file) types.insert(types.end(), {b_.getPtrTy(), b_.getInt64Ty()});
    for (llvm::Type* type : types_of(interface_.init)) types.push_back(type);
    types.insert(types.end(), {b_.getPtrTy(), b_.getPtrTy()});
    begin("_init", b_.getInt32Ty(), types);
    begin_body();
    Value* arena = next_argument();
    Value* arena_bytes = next_argument();
    Value* weights =
        weights_data_ != nullptr ? static_cast<Value*>(weights_data_) : llvm::ConstantPointerNull::get(b_.getPtrTy());
    Value* weights_bytes = nullptr;
    if (interface_.has_weights_file) {
      weights = next_argument();
      weights_bytes = next_argument();
    }
    std::vector<Value*> given, symbols(function_.symbols.size(), b_.getInt64(0));
    for (const CArgument& argument : interface_.init) {
      given.push_back(next_argument());
      if (argument.kind == CArgumentKind::size) symbols[argument.index] = given.back();
    }
    Value* pool = next_argument();
    Value* result = next_argument();

    refuse(b_.CreateOr(b_.CreateIsNull(arena), b_.CreateIsNull(result)), ExportError::NULL_POINTER);
    refuse(is_misaligned(arena, kMemoryAlignment), ExportError::ARENA_ALIGNMENT);
    Value* threads = check_threads(pool);
    if (weights_bytes != nullptr) check_weights(weights, weights_bytes);
    SizeCode sizes(b_, symbols);
    PointerChecks pointers{b_.getFalse(), b_.getFalse()};
    PlanOperands operands;
    operands.parameters.resize(function_.parameters.size());
    for (std::size_t i = 0; i < given.size(); ++i) {
      const CArgument& argument = interface_.init[i];
      if (argument.kind == CArgumentKind::size) continue;
      operands.parameters[argument.index] = given[i];
      check_tensor(sizes, pointers, function_.parameters[argument.index], given[i]);
    }
    sizes.define(function_.init);
    const PersistentPlaces kept = place_persistent(sizes, b_, function_, layout_.bytes());
    const WorkspacePlaces workspaces = place_workspaces(sizes, b_, function_.init, kept.end, threads);
    sizes.refuse_if(b_.CreateICmpSGT(workspaces.end, address_limit()));
    refuse(sizes.is_invalid(), ExportError::SIZES);
    refuse_pointers(pointers);
    refuse(b_.CreateICmpSLT(arena_bytes, workspaces.end), ExportError::ARENA_BYTES);

    llvm::Type* size = b_.getIntPtrTy(module_.getDataLayout());
    Value* cleared = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, arena_bytes, address_limit());
    b_.CreateMemSet(arena, b_.getInt8(0), b_.CreateTrunc(cleared, size), llvm::MaybeAlign(kMemoryAlignment));
    store_api(arena);
    layout_.store(b_, arena, InstanceField::pool, pool);
    layout_.store(b_, arena, InstanceField::weights, weights);
    layout_.store(b_, arena, InstanceField::arena_bytes, arena_bytes);
    layout_.store(b_, arena, InstanceField::kept_bytes, kept.end);
    layout_.store(b_, arena, InstanceField::threads, threads);
    for (std::size_t i = 0; i < given.size(); ++i) b_.CreateStore(given[i], layout_.kept_argument(b_, arena, i));
    for (std::size_t i = 0; i < kept.offsets.size(); ++i) {
      operands.persistent.push_back(at(arena, kept.offsets[i]));
      b_.CreateStore(operands.persistent.back(), layout_.persistent(b_, arena, i));
    }
    for (Value* offset : workspaces.offsets) operands.workspaces.push_back(at(arena, offset));
    operands.constants = constants(weights);
    set_thread_workspaces(arena, workspaces);
    emit_steps(b_, function_.init, sizes, operands, arena, layout_);
    layout_.store(b_, arena, InstanceField::mark, b_.getInt64(mark_));
    b_.CreateStore(arena, result);
    b_.CreateRet(b_.getInt32(0));
  }

  void emit_run() {
    std::vector<llvm::Type*> types = types_of(interface_.run);
    types.insert(types.begin(), b_.getPtrTy());
    begin("_run", b_.getInt32Ty(), types);
    begin_body();
    Value* instance = next_argument();
    PlanOperands operands;
    operands.parameters.resize(function_.parameters.size());
    std::vector<Value*> symbols(function_.symbols.size(), b_.getInt64(0));
    for (const CArgument& argument : interface_.run) {
      Value* given = next_argument();
      if (argument.kind == CArgumentKind::size) {
        symbols[argument.index] = given;
        continue;
      }
      const ParameterInfo& parameter = function_.parameters[argument.index];
      operands.parameters[argument.index] = given;
      for (std::size_t s = 0; s < symbols.size(); ++s) {
        if (parameter.kind == ParameterKind::scalar && parameter.name == function_.symbols[s]) symbols[s] = given;
      }
    }
    refuse(b_.CreateIsNull(instance), ExportError::NULL_POINTER);
    refuse(is_misaligned(instance, kMemoryAlignment), ExportError::INSTANCE);
    Value* mark = layout_.load(b_, instance, InstanceField::mark);
    refuse(b_.CreateICmpNE(mark, b_.getInt64(mark_)), ExportError::INSTANCE);
    Value* differs = b_.getFalse();
    for (std::size_t i = 0; i < interface_.init.size(); ++i) {
      const CArgument& argument = interface_.init[i];
      Value* kept = b_.CreateLoad(type_of(argument), layout_.kept_argument(b_, instance, i));
      if (argument.kind == CArgumentKind::size)
        differs = b_.CreateOr(differs, b_.CreateICmpNE(kept, symbols[argument.index]));
      else
        operands.parameters[argument.index] = kept;
    }
    refuse(differs, ExportError::CONSTANT_SIZES);

    SizeCode sizes(b_, symbols);
    PointerChecks pointers{b_.getFalse(), b_.getFalse()};
    for (const CArgument& argument : interface_.run) {
      if (argument.kind == CArgumentKind::tensor)
        check_tensor(sizes, pointers, function_.parameters[argument.index], operands.parameters[argument.index]);
    }
    refuse(sizes.is_invalid(), ExportError::SIZES);
    check_preconditions(sizes);
    sizes.define(function_.plan);
    const WorkspacePlaces workspaces =
        place_workspaces(sizes, b_, function_.plan, layout_.load(b_, instance, InstanceField::kept_bytes),
                         layout_.load(b_, instance, InstanceField::threads));
    refuse(sizes.is_invalid(), ExportError::SIZES);
    refuse_pointers(pointers);
    Value* arena_bytes = layout_.load(b_, instance, InstanceField::arena_bytes);
    refuse(b_.CreateICmpSLT(arena_bytes, workspaces.end), ExportError::ARENA_BYTES);

    for (Value* offset : workspaces.offsets) operands.workspaces.push_back(at(instance, offset));
    operands.persistent = load_persistent(instance);
    if (!manifest_.constants.empty())
      operands.constants = constants(weights_data_ != nullptr ? static_cast<Value*>(weights_data_)
                                                              : layout_.load(b_, instance, InstanceField::weights));
    set_thread_workspaces(instance, workspaces);
    emit_steps(b_, function_.plan, sizes, operands, instance, layout_);
    b_.CreateRet(b_.getInt32(0));
  }

  void check_preconditions(SizeCode& sizes) {
    auto code = static_cast<std::uint32_t>(function_.messages.size());
    for (const Precondition& precondition : function_.preconditions) {
      Value* holds = sizes.evaluate(precondition.condition);
      refuse(sizes.is_invalid(), ExportError::SIZES);
      return_if(b_, b_.CreateIsNull(holds), b_.getInt32(++code));
    }
  }

  const Manifest& manifest_;
  const FunctionInfo& function_;
  const CInterface& interface_;
  std::span<const std::uint8_t> weights_;
  const Target& target_;
  llvm::Module& module_;
  InstanceLayout layout_;
  llvm::IRBuilder<> b_;
  std::uint64_t mark_;
  llvm::GlobalVariable* weights_data_ = nullptr;
  llvm::Function* current_ = nullptr;
  unsigned arguments_ = 0;
};

}  // namespace

void emit_entry_points(const ExportedPlan& plan, const Target& target, llvm::Module& module) {
  PlanEmitter(plan, target, module).emit();
}

}  // namespace ferry::codegen
