#include "crosscompile/codegen/llvm/target/optimise.h"

#include "crosscompile/ir/error.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Passes/PassBuilder.h>

namespace ferry::codegen {
namespace {

// Unrolling and the vectorisers are left out, because they would undo what the schedule chose. LICM runs after arrays
// have become values, so that it sees loop invariants. GVN in place of the second early-cse would cost more than
// everything else together and finds nothing more in this kind of code.
constexpr const char* kPipeline =
    "function("
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg<hoist-common-insts;sink-common-insts>,"
    "instcombine<no-verify-fixpoint>,loop-mssa(licm<allowspeculation>),early-cse<memssa>,adce,"
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;hoist-common-insts;sink-common-insts>,"
    "infer-alignment"
    ")";

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine, const std::string& first) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);

  // Marks all C library functions as unknown: LLVM would otherwise replace calls and loops by functions that the device
  // lacks.
  llvm::TargetLibraryInfoImpl library(llvm::Triple(module.getTargetTriple()));
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });

  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, first + kPipeline)) {
    throw InternalError("the optimiser's pipeline: " + llvm::toString(std::move(error)));
  }
  passes.run(module, modules);
}

}  // namespace ferry::codegen
