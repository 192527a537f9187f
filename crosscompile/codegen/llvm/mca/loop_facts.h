// How often the loops of an optimised module run, and which way its branches go, as far as constants say: scalar
// evolution at all iterations of the loops around, or at some. Only for files that may include LLVM.
#pragma once

#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ValueMap.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ferry::codegen {

// A call that runs a function of the module for parts of a loop.
struct ParallelCall {
  std::string callee;
  std::int64_t extent = 0;  // the loop's; 0 if it is no constant
};

struct BlockFacts {
  std::optional<double> trips;  // the average of the innermost loop around the block
  // The share of the block's runs after which it goes to its branch's first successor.
  std::optional<double> taken;
  std::optional<ParallelCall> call;
};

// Blocks that passes delete are taken out.
using ModuleFacts = llvm::ValueMap<const llvm::BasicBlock*, BlockFacts>;

void find_facts(llvm::Module& module, llvm::TargetMachine& machine, ModuleFacts& into);

}  // namespace ferry::codegen
