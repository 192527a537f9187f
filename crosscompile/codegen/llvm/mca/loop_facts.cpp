#include "crosscompile/codegen/llvm/mca/loop_facts.h"

#include "crosscompile/codegen/llvm/mca/loop_values.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>

namespace ferry::codegen {

namespace {

// Returns the call of the runtime's parallel_for(runtime, extent, grain, body, memory) in a block.
std::optional<ParallelCall> parallel_call_in(const llvm::BasicBlock& block) {
  for (const llvm::Instruction& instruction : block) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || !call->isIndirectCall()) continue;
    for (unsigned i = 2; i < call->arg_size(); ++i) {
      const auto* callee = llvm::dyn_cast<llvm::Function>(call->getArgOperand(i));
      if (callee == nullptr || callee->isDeclaration()) continue;
      const auto* extent = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(i - 2));
      return ParallelCall{callee->getName().str(), extent == nullptr ? 0 : extent->getSExtValue()};
    }
  }
  return std::nullopt;
}

}  // namespace

void find_facts(llvm::Module& module, llvm::TargetMachine& machine, ModuleFacts& into) {
  std::map<std::string, std::int64_t> extents;  // how many iterations functions that run for a range have in all
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      const std::optional<ParallelCall> call = parallel_call_in(block);
      if (!call) continue;
      into[&block].call = call;
      extents[call->callee] = call->extent;
    }
  }
  llvm::FunctionAnalysisManager functions;
  llvm::PassBuilder(&machine).registerFunctionAnalyses(functions);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::LoopInfo& loops = functions.getResult<llvm::LoopAnalysis>(function);
    LoopValues::Arguments arguments;
    if (const auto extent = extents.find(function.getName().str()); extent != extents.end() && extent->second > 0)
      arguments = LoopValues::Arguments({{function.getArg(0), 0}, {function.getArg(1), extent->second}});
    LoopValues values(functions.getResult<llvm::ScalarEvolutionAnalysis>(function), arguments);
    for (const llvm::BasicBlock& block : function) {
      BlockFacts& facts = into[&block];
      if (const llvm::Loop* loop = loops.getLoopFor(&block)) facts.trips = values.trips(*loop);
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
      if (branch != nullptr && branch->isConditional()) facts.taken = values.share(*branch->getCondition());
    }
  }
}

}  // namespace ferry::codegen
