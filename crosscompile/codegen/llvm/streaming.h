// Stores past the caches, for tensors that are larger than those: what is not there already is then not read first.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Asks for it; the instruction is a store.
void mark_streaming(llvm::Instruction* store);

// Once alignments are known: whole aligned vectors of x86 keep the wish (others would be taken apart into scalars), and
// whoever waits for a function that has some sees them all.
void finish_streaming(llvm::Module& module, bool has_streaming_stores);

}  // namespace ferry::codegen
