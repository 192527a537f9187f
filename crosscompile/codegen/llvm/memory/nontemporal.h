// Non-temporal stores, for tensors that are larger than the caches: they avoid reading the cache lines first.
#pragma once

#include <llvm/IR/Instruction.h>
#include <llvm/IR/Module.h>

namespace ferry::codegen {

// Marks a store as non-temporal.
void mark_nontemporal(llvm::Instruction* store);

// Must be called when alignments are known. Keeps stores of whole x86 vectors non-temporal where they are aligned,
// since LLVM would split others into scalars; where the alignment is unknown at compile time it is tested at run time.
// Functions with such stores end with a fence, so that whoever waits for the function sees all of them. `vector_bytes`:
// size of the target's registers; 0: the target has no such stores.
void fence_nontemporal_stores(llvm::Module& module, std::uint32_t vector_bytes);

}  // namespace ferry::codegen
