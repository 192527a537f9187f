#include "crosscompile/codegen/llvm/gpu/emit_ptx.h"

#include "crosscompile/codegen/llvm/cpu/targets.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/function.h"
#include "crosscompile/codegen/llvm/gpu/libdevice.h"
#include "crosscompile/codegen/llvm/gpu/nvptx.h"
#include "crosscompile/codegen/llvm/statements.h"
#include "crosscompile/codegen/llvm/target/machine.h"
#include "crosscompile/codegen/llvm/target/optimise.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "ferry/operators.h"

#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <limits>

namespace ferry::codegen {
namespace {

using passes::GpuKernel;
using passes::KernelParameter;

constexpr unsigned kGlobal = 1, kShared = 3;  // address spaces
constexpr std::uint64_t kParameterAlignment = 64, kSharedAlignment = 16;

int capability_of(const std::string& gpu) { return std::atoi(gpu.c_str() + 3); }

// Returns the GPU itself, or the newest one before it that LLVM knows.
std::string known_gpu(const Target& target) {
  const std::unique_ptr<llvm::MCSubtargetInfo> table(
      llvm_target(target.triple).createMCSubtargetInfo(target.triple, "", ""));
  std::string best, all;
  for (const llvm::SubtargetSubTypeKV& known : table->getAllProcessorDescriptions()) {
    const std::string name = known.Key;
    if (name == target.cpu) return name;
    all += (all.empty() ? "" : ", ") + name;
    if (name.back() >= '0' && name.back() <= '9' && capability_of(name) <= capability_of(target.cpu) &&
        (best.empty() || capability_of(name) > capability_of(best)))
      best = name;
  }
  if (best.empty())
    throw CompileError("expected a GPU that LLVM makes PTX for (" + all + "), got '" + target.cpu + "'");
  return best;
}

// Shuffles take a mask of threads since PTX 6.0 (CUDA 9), a version that LLVM does not choose by itself for GPUs before
// Volta.
constexpr const char* kLeastPtx = "+ptx60";

std::unique_ptr<llvm::TargetMachine> make_ptx_machine(const Target& target) {
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target(target.triple).createTargetMachine(target.triple, known_gpu(target), kLeastPtx, {}, std::nullopt));
  if (machine == nullptr) throw InternalError("LLVM cannot generate code for " + target.text);
  return machine;
}

llvm::Function* declare(ModuleState& module, const GpuKernel& kernel) {
  llvm::LLVMContext& context = module.context;
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const KernelParameter& parameter : kernel.parameters)
    types.push_back(parameter.buffer != nullptr ? llvm::PointerType::get(context, kGlobal)
                                                : memory_type(module, parameter.variable.type()));
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kernel.symbol, module.module);
  entry->setCallingConv(llvm::CallingConv::PTX_Kernel);
  entry->setDoesNotThrow();
  for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter& parameter = kernel.parameters[i];
    if (parameter.buffer == nullptr) {
      entry->getArg(i)->setName(parameter.variable.as<ir::Var>()->name);
      continue;
    }
    entry->getArg(i)->setName(parameter.buffer->name);
    entry->addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(kParameterAlignment)));
    // Parts of the workspace may overlap.
    if (!parameter.offset.defined()) entry->addParamAttr(i, llvm::Attribute::NoAlias);
    if (parameter.is_input) entry->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
  return entry;
}

// Marks the function as a kernel, with its number of threads.
void annotate(ModuleState& module, llvm::Function* entry, const GpuKernel& kernel) {
  llvm::LLVMContext& context = module.context;
  llvm::NamedMDNode* list = module.module.getOrInsertNamedMetadata("nvvm.annotations");
  const auto add = [&](const char* what, std::int64_t value) {
    auto* number = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<std::uint64_t>(value));
    list->addOperand(llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(entry), llvm::MDString::get(context, what),
                                                 llvm::ConstantAsMetadata::get(number)}));
  };
  add("kernel", 1);
  const char* const axes[] = {"reqntidx", "reqntidy", "reqntidz"};
  for (std::size_t axis = 0; axis < 3; ++axis) add(axes[axis], *ir::as_int(kernel.block[axis].extent));
}

void take_parameters(FunctionState& state, const GpuKernel& kernel) {
  for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
    const KernelParameter& parameter = kernel.parameters[i];
    llvm::Argument* argument = state.function->getArg(i);
    if (parameter.buffer != nullptr)
      state.buffers[parameter.buffer.get()] = argument;
    else
      state.values[parameter.variable.get()] = from_memory(state, parameter.variable.type(), argument);
  }
}

void take_indices(FunctionState& state, const GpuKernel& kernel) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (const ir::Expr& var = kernel.grid[axis].var; var.defined()) {
      state.values[var.get()] = emit_block_index(state, axis);
      state.ranges[var.get()] = {0, std::numeric_limits<std::int32_t>::max() - 1};
    }
    if (const ir::Expr& var = kernel.block[axis].var; var.defined()) {
      state.values[var.get()] = emit_thread_index(state, axis);
      state.ranges[var.get()] = {0, *ir::as_int(kernel.block[axis].extent) - 1};
    }
  }
}

llvm::GlobalVariable* declare_shared(ModuleState& module, llvm::Type* type, llvm::GlobalValue::LinkageTypes linkage,
                                     const std::string& name) {
  llvm::Constant* contents = linkage == llvm::GlobalValue::ExternalLinkage ? nullptr : llvm::UndefValue::get(type);
  auto* array = new llvm::GlobalVariable(module.module, type, false, linkage, contents, name, nullptr,
                                         llvm::GlobalValue::NotThreadLocal, kShared);
  array->setAlignment(llvm::Align(kSharedAlignment));
  return array;
}

void make_shared(FunctionState& state, const GpuKernel& kernel) {
  llvm::IRBuilder<>& b = state.builder;
  // All shared memory that is requested at the launch is one array.
  llvm::GlobalVariable* at_launch = nullptr;
  if (kernel.shared_bytes > passes::kStaticSharedBytes) {
    at_launch = state.module.module.getGlobalVariable("shared_memory");
    if (at_launch == nullptr)
      at_launch = declare_shared(state.module, llvm::ArrayType::get(b.getInt8Ty(), 0),
                                 llvm::GlobalValue::ExternalLinkage, "shared_memory");
  }
  for (const passes::SharedArray& array : kernel.shared) {
    const ir::Buffer& buffer = *array.buffer;
    if (at_launch != nullptr) {
      state.buffers[&buffer] =
          b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), at_launch, static_cast<std::uint64_t>(array.offset));
      continue;
    }
    const auto elements = static_cast<std::uint64_t>(std::max<std::int64_t>(array.elements, 1));
    state.buffers[&buffer] =
        declare_shared(state.module, llvm::ArrayType::get(memory_type(state.module, buffer.dtype), elements),
                       llvm::GlobalValue::InternalLinkage, kernel.symbol + "_" + buffer.name);
  }
}

void emit_kernel(ModuleState& module, const ir::Function& function, const GpuKernel& kernel) {
  llvm::Function* entry = declare(module, kernel);
  annotate(module, entry, kernel);
  AliasScopes aliases(module.context, function);
  FunctionState state(module, function, aliases, entry);
  state.in_parallel = true;  // a thread runs parallel loops inside as serial ones
  note_sizes(state);
  take_parameters(state, kernel);
  take_indices(state, kernel);
  make_shared(state, kernel);
  emit_stmt(state, kernel.body);
  state.builder.CreateRetVoid();
}

}  // namespace

std::string emit_ptx(std::span<const ir::Function> functions, const Target& target, const std::string& libdevice) {
  llvm::LLVMContext context;
  llvm::Module module("ferry", context);
  const std::unique_ptr<llvm::TargetMachine> machine = make_ptx_machine(target);
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine->createDataLayout());
  DebugLines lines(module);
  ModuleState state{target, CodeKind::nvptx, context, module, lines};
  for (ir::Function function : functions) {
    if (!function.flat) throw InternalError(function.name + ": code generation expects what passes/flatten.h makes");
    function.lines = nullptr;  // debug information in PTX differs from what host debuggers expect
    for (const GpuKernel& kernel : passes::extract_kernels(function)) {
      if (module.getFunction(kernel.symbol) != nullptr)
        throw CompileError("two functions are called '" + kernel.symbol + "'");
      emit_kernel(state, function, kernel);
    }
  }
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) throw InternalError("invalid LLVM IR: " + stream.str());
  link_libdevice(module, libdevice);
  optimise(module, *machine, "function(nvvm-reflect),always-inline,globaldce,");
  return emit_file(module, *machine, llvm::CodeGenFileType::AssemblyFile);
}

}  // namespace ferry::codegen
