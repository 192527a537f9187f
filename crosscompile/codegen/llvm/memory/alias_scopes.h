// Tells LLVM which buffers never share memory, by alias scopes on every load and store: a kernel loads its pointers
// from an array, so they cannot be noalias parameters, and a parallel body gets them from its closure.
#pragma once

#include "crosscompile/ir/function.h"

#include <llvm/IR/Instruction.h>
#include <llvm/IR/LLVMContext.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ferry::codegen {

class AliasScopes {
 public:
  // The scopes of one kernel: its parameters and everything that its body allocates.
  AliasScopes(llvm::LLVMContext& context, const ir::Function& function);

  // The scopes for a function that contains only this body, without the buffers that the body does not use. Whenever
  // LLVM merges two accesses it processes their lists, and a kernel may have hundreds of buffers.
  AliasScopes(const AliasScopes& all, const ir::Stmt& body);

  // Marks a load or store of the buffer.
  void mark(llvm::Instruction* access, const ir::Buffer* buffer);

 private:
  struct Entry {
    llvm::MDNode* own = nullptr;     // list with the buffer's own scope
    llvm::MDNode* others = nullptr;  // the scopes of buffers that share no memory with it
    bool constant = false;           // never written while the kernel runs
  };
  std::unordered_map<const ir::Buffer*, Entry> entries_;
};

}  // namespace ferry::codegen
