// Machine code of functions as a tree of loops that says how often each part runs. Only for files that may include
// LLVM.
#pragma once

#include <llvm/MC/MCInst.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace ferry::codegen {

struct CodeLoop;

// A basic block, or a loop.
struct CodePart {
  double share = 1;                     // how often it runs, or is entered, in an iteration of the loop around it
  std::size_t block = 0;                // its number, unless it is a loop
  std::unique_ptr<CodeLoop> loop = {};  // null: a block
};

struct CodeLoop {
  double trips = 1;                  // iterations each time that it is entered; 1 for a function; 0: not known
  std::vector<CodePart> parts = {};  // in the order in which they run
};

// Operands that are expressions, such as symbols, are 0.
using CodeBlock = std::vector<llvm::MCInst>;

struct CodeLoops {
  std::vector<CodeBlock> blocks;  // in the order of the code
  CodeLoop body;                  // the function that is called, with what it runs in parallel
};

}  // namespace ferry::codegen
