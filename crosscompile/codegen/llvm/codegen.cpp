#include "crosscompile/codegen/llvm/codegen.h"
#include "base/hash_stream.h"
#include "base/parallel_for.h"
#include "crosscompile/codegen/llvm/function.h"
#include "crosscompile/codegen/llvm/mca/code_cycles.h"
#include "crosscompile/codegen/llvm/mca/record_code.h"
#include "crosscompile/codegen/llvm/memory/nontemporal.h"
#include "crosscompile/codegen/llvm/target/half_rounding.h"
#include "crosscompile/codegen/llvm/target/half_selects.h"
#include "crosscompile/codegen/llvm/target/imports.h"
#include "crosscompile/codegen/llvm/target/machine.h"
#include "crosscompile/codegen/llvm/target/optimise.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/symbol.h"
#include "module/unaligned_tensors.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/MemoryBufferRef.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <set>

namespace ferry::codegen {
namespace {

// A module with a context of its own, so that several threads may compile at the same time.
struct Compiled {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
};

// The code of few functions is a little smaller in one object, and is compiled soon. Init functions have an object of
// their own, which may have been compiled before.
constexpr std::size_t kFunctionsOfOneObject = 16;

void verify(const llvm::Module& module) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(module, &stream)) throw InternalError("invalid LLVM IR: " + stream.str());
}

void emit_ir(Compiled& into, std::span<const ir::Function> functions, const Target& target,
             TensorAlignment alignment = TensorAlignment::device) {
  into.module = std::make_unique<llvm::Module>("ferry", into.context);
  into.machine = make_machine(target);
  configure_module(*into.module, *into.machine, target);
  DebugLines lines(*into.module);
  const bool are_aligned = alignment == TensorAlignment::device && !takes_unaligned_tensors(target.text);
  ModuleState state{target, CodeKind::cpu, into.context, *into.module, lines, are_aligned};
  for (const ir::Function& function : functions) emit_function(state, function);
  lines.finish();
}

void optimise_ir(Compiled& into, const Target& target) {
  verify(*into.module);
  optimise(*into.module, *into.machine);
  fence_nontemporal_stores(*into.module, target.capabilities.nontemporal_stores ? target.vector_bits / 8 : 0);
  if (!target.capabilities.f16_arithmetic) select_halves_as_bits(*into.module);
  if (target.capabilities.rounds_halves_as_floats) round_halves_as_floats(*into.module);
}

void compile(Compiled& into, std::span<const ir::Function> functions, const Target& target) {
  emit_ir(into, functions, target);
  optimise_ir(into, target);
}

// Returns a hash of all that an object depends on: the module before optimisation, and the machine.
Hash key_of(const llvm::Module& module, const Target& target) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  // The orders of lists of uses may decide the order of instructions.
  llvm::WriteBitcodeToFile(module, stream, /*ShouldPreserveUseListOrder=*/true);
  HashStream hash;
  const auto add = [&](const char* data, std::size_t size) {
    hash.add({reinterpret_cast<const std::uint8_t*>(data), size});
  };
  add(bitcode.data(), bitcode.size());
  for (const std::string& text : {target.text, machine_cpu(target), feature_string(target)})
    add(text.c_str(), text.size() + 1);
  return hash.finish();
}

// Looks the object up in `known`, and adds it, unless that is null.
std::vector<std::uint8_t> object_of(std::span<const ir::Function> functions, const Target& target,
                                    TensorAlignment alignment, std::span<const std::uint8_t> description = {},
                                    ObjectCache* known = nullptr) {
  Compiled compiled;
  emit_ir(compiled, functions, target, alignment);
  Hash key{};
  if (known != nullptr) {
    key = key_of(*compiled.module, target);
    if (std::optional<ObjectCache::Object> object = known->find(key)) return *std::move(object);
  }
  optimise_ir(compiled, target);
  if (!description.empty()) {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(description.data()), description.size());
    llvm::embedBufferInModule(*compiled.module, llvm::MemoryBufferRef(bytes, "description"), kDescriptionSection);
  }
  const std::string object = emit_file(*compiled.module, *compiled.machine, llvm::CodeGenFileType::ObjectFile);
  // An object that is linked elsewhere may call whatever is available there. Only the calls of C functions do not come
  // from LLVM.
  if (target.objects_only) return {object.begin(), object.end()};
  std::vector<std::string> linked_later;
  for (const ir::Function& function : functions)
    for (std::string& name : ir::extern_functions(function.body)) linked_later.push_back(std::move(name));
  check_object_imports(object, target, linked_later);
  if (known != nullptr) known->add(key, {object.begin(), object.end()});
  return {object.begin(), object.end()};
}

// Returns the functions of each object.
std::vector<std::vector<ir::Function>> parts_of(std::span<const ir::Function> functions) {
  std::vector<std::vector<ir::Function>> parts;
  if (functions.size() > kFunctionsOfOneObject) {
    for (const ir::Function& function : functions) parts.push_back({function});
    return parts;
  }
  std::vector<ir::Function> inits;
  parts.emplace_back();
  for (const ir::Function& function : functions) (function.init_of.empty() ? parts.front() : inits).push_back(function);
  if (!inits.empty()) parts.push_back(std::move(inits));
  if (parts.size() > 1 && parts.front().empty()) parts.erase(parts.begin());
  return parts;
}

}  // namespace

std::vector<std::uint8_t> emit_object(std::span<const ir::Function> functions, const Target& target,
                                      std::span<const std::uint8_t> description) {
  return object_of(functions, target, TensorAlignment::device, description);
}

std::vector<std::vector<std::uint8_t>> emit_objects(std::span<const ir::Function> functions, const Target& target,
                                                    TensorAlignment alignment, ObjectCache* init_objects) {
  std::set<std::string> symbols;
  for (const ir::Function& function : functions) {
    if (!symbols.insert(ir::function_symbol(function)).second) refuse_second(function);
  }
  const std::vector<std::vector<ir::Function>> parts = parts_of(functions);
  std::vector<std::vector<std::uint8_t>> objects(parts.size());
  parallel_for(parts.size(), [&](std::size_t i) {
    const bool is_init = !parts[i].empty() && !parts[i].front().init_of.empty();
    objects[i] = object_of(parts[i], target, alignment, {}, is_init ? init_objects : nullptr);
  });
  return objects;
}

std::string emit_llvm(std::span<const ir::Function> functions, const Target& target) {
  Compiled compiled;
  compile(compiled, functions, target);
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled.module->print(stream, nullptr);
  return text;
}

std::string emit_assembly(std::span<const ir::Function> functions, const Target& target) {
  Compiled compiled;
  compile(compiled, functions, target);
  return emit_file(*compiled.module, *compiled.machine, llvm::CodeGenFileType::AssemblyFile);
}

std::optional<double> code_cycles(const ir::Function& function, const Target& target, const CoreModel& core) {
  Compiled compiled;
  compile(compiled, {&function, 1}, target);
  return cycles_of(record_code(*compiled.module, *compiled.machine, ir::function_symbol(function)), target, core);
}

}  // namespace ferry::codegen
