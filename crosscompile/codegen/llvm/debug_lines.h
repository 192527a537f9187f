// Which line of the source each instruction comes from, for debuggers and reports of crashes. Functions without
// ir::SourceLines get nothing, and cost nothing.
#pragma once

#include "crosscompile/ir/function.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <memory>

namespace ferry::codegen {

class DebugLines {
 public:
  explicit DebugLines(llvm::Module& module) : module_(module) {}

  // What belongs to the whole of `function`, a kernel or a part of one; nothing when its source is unknown.
  llvm::DebugLoc begin(const ir::Function& source, llvm::Function* function);
  // Of a statement that stores there, in a function that was begun.
  llvm::DebugLoc of_store(const ir::Function& source, const ir::Buffer& buffer, llvm::Function* function) const;
  // Once all functions are made.
  void finish();

 private:
  llvm::Module& module_;
  std::unique_ptr<llvm::DIBuilder> builder_;  // null: no function has lines
};

}  // namespace ferry::codegen
