// Tells LLVM which buffers never share memory, by alias scopes on every load and store: a kernel's pointers come out of
// an array, so they cannot be noalias parameters, and a parallel body gets them from its closure.
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
  // Of one kernel: its parameters and all that its body allocates.
  AliasScopes(llvm::LLVMContext& context, const ir::Function& function);

  // For code that is this body alone: without the buffers that it does not use. LLVM takes the lists apart at every
  // access that it joins with another, and a kernel may have hundreds of buffers.
  AliasScopes(const AliasScopes& all, const ir::Stmt& body);

  // Marks a load or store of the buffer.
  void mark(llvm::Instruction* access, const ir::Buffer* buffer);

 private:
  struct Entry {
    llvm::MDNode* own = nullptr;     // list with the buffer's scope
    llvm::MDNode* others = nullptr;  // the scopes it shares no memory with
    bool constant = false;           // nobody writes it while the kernel runs
  };
  std::unordered_map<const ir::Buffer*, Entry> entries_;
};

}  // namespace ferry::codegen
