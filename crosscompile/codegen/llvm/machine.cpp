#include "crosscompile/codegen/llvm/machine.h"

#include "crosscompile/codegen/llvm/cpu/cpu_tables.h"
#include "crosscompile/codegen/llvm/cpu/targets.h"
#include "crosscompile/ir/error.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetOptions.h>

namespace ferry::codegen {

namespace {

// Hints of LLVM's 32-bit ARM tables that are wrong for code with many independent sums: they split every fused
// multiplication in two instructions, which then do not fit the registers.
bool is_misleading(const std::string& feature) {
  return feature == "slowfpvmlx" || feature == "slowfpvfmx" || feature == "vmlx-hazards";
}

}  // namespace

std::string feature_string(const Target& target) {
  std::string text;
  const auto add = [&](char sign, const std::string& name) {
    if (!text.empty()) text += ',';
    text += sign;
    text += name;
  };
  for (const std::string& name : target.features) {
    if (!is_misleading(name)) add('+', name);
  }
  for (const std::string& name : features_of(target.triple, target.cpu, {})) {
    if (!target.has(name) || is_misleading(name)) add('-', name);
  }
  return text;
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  llvm::TargetOptions options;
  if (target.arch == "riscv64") options.MCOptions.ABIName = "lp64d";
  if (target.arch == "armv7") {
    options.FloatABIType = llvm::FloatABI::Hard;
    // Its vectors ignore the flag on the single operations that allows contraction, which all of ours carry.
    options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  }
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target(target.triple)
                                                   .createTargetMachine(target.triple, target.cpu,
                                                                        feature_string(target), options,
                                                                        llvm::Reloc::PIC_, llvm::CodeModel::Small));
  if (machine == nullptr) throw InternalError("LLVM cannot generate code for " + target.text);
  return machine;
}

void configure_module(llvm::Module& module, const llvm::TargetMachine& machine, const Target& target) {
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(llvm::PICLevel::SmallPIC);
  if (target.arch == "riscv64") {
    module.addModuleFlag(llvm::Module::Error, "target-abi", llvm::MDString::get(module.getContext(), "lp64d"));
  }
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
