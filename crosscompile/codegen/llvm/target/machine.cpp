#include "crosscompile/codegen/llvm/target/machine.h"

#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"
#include "crosscompile/codegen/llvm/cpu/targets.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/abi.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>

#include <optional>

namespace ferry::codegen {

namespace {

// Returns whether the feature is a hint of LLVM's 32-bit ARM tables that is wrong for code with many independent sums:
// such hints split every fused multiply-add into two instructions, which then exceed the registers.
bool is_misleading(const Target& target, const std::string& feature) {
  // Given the feature, LLVM makes functions of halves, not all of which it selects where halves are not computed with.
  if (feature == "fullfp16") return !target.capabilities.f16_arithmetic;
  return feature == "slowfpvmlx" || feature == "slowfpvfmx" || feature == "vmlx-hazards";
}

}  // namespace

std::string machine_cpu(const Target& target) {
  return target.capabilities.scheduling_cpu != nullptr ? target.capabilities.scheduling_cpu : target.cpu;
}

std::string feature_string(const Target& target) {
  std::string text;
  const auto add = [&](char sign, const std::string& name) {
    if (!text.empty()) text += ',';
    text += sign;
    text += name;
  };
  for (const std::string& name : target.features) {
    if (!is_misleading(target, name)) add('+', name);
  }
  for (const std::string& name : features_of(target.triple, machine_cpu(target), {})) {
    if (!target.has(name) || is_misleading(target, name)) add('-', name);
  }
  return text;
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  llvm::TargetOptions options;
  options.FunctionSections = true;  // so that the linker folds equal functions
  const Abi abi = abi_of(target);
  options.MCOptions.ABIName = abi.calling_convention;
  if (std::string_view(abi.float_abi) == "hard") options.FloatABIType = llvm::FloatABI::Hard;
  if (target.capabilities.contracts_by_option) options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  // WebAssembly has position-independent code only for one of its systems.
  const auto relocation = llvm::Triple(target.triple).isWasm() ? llvm::Reloc::Static : llvm::Reloc::PIC_;
  std::optional<llvm::CodeModel::Model> model;
  if (!target.objects_only) model = llvm::CodeModel::Small;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target(target.triple)
          .createTargetMachine(target.triple, machine_cpu(target), feature_string(target), options, relocation, model));
  if (machine == nullptr) throw InternalError("LLVM cannot generate code for " + target.text);
  return machine;
}

void configure_module(llvm::Module& module, const llvm::TargetMachine& machine, const Target& target) {
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
  if (const std::string abi = abi_of(target).calling_convention; !abi.empty())
    module.addModuleFlag(llvm::Module::Error, "target-abi", llvm::MDString::get(module.getContext(), abi));
}

std::string emit_file(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind, /*DisableVerify=*/true)) {
    throw InternalError("LLVM cannot emit this kind of file for " + module.getTargetTriple());
  }
  passes.run(module);
  return {bytes.begin(), bytes.end()};
}

}  // namespace ferry::codegen
