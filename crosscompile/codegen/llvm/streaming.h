// Stores past the caches, for tensors that are larger than those: what is not there already is then not read first.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Asks for it; the instruction is a store.
void mark_streaming(llvm::Instruction* store);

// Once alignments are known: whole vectors of x86 keep the wish where they are aligned, which is looked at when the
// function runs if nothing is known before, since others would be taken apart into scalars. Whoever waits for a
// function that has some sees them all. `vector_bytes`: of the target's registers; 0: it has no such stores.
void finish_streaming(llvm::Module& module, std::uint32_t vector_bytes);

}  // namespace ferry::codegen
