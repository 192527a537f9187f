// Maps each instruction to a source line, for debuggers and crash reports. Functions without ir::SourceLines get no
// debug information, at no cost.
#pragma once

#include "crosscompile/ir/function.h"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Module.h>

#include <memory>

namespace ferry::codegen {

class DebugLines {
 public:
  explicit DebugLines(llvm::Module& module) : module_(module) {}

  // Returns the location of the whole of `function`, a kernel or a part of one; nothing when its source is unknown.
  llvm::DebugLoc begin(const ir::Function& source, llvm::Function* function);
  // Returns the location of a statement that stores to the buffer, in a function for which begin() was called.
  llvm::DebugLoc of_store(const ir::Function& source, const ir::Buffer& buffer, llvm::Function* function) const;
  // Must be called after all functions are emitted.
  void finish();

 private:
  llvm::Module& module_;
  std::unique_ptr<llvm::DIBuilder> builder_;  // null when no function has lines
};

}  // namespace ferry::codegen
