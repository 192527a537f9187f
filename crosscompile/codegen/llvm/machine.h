// LLVM's code generator for a target: one TargetMachine an emission, since it may not be shared between threads.
#pragma once

#include "crosscompile/target/target.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace ferry::codegen {

// "+avx2,+fma,...,-crc": everything that is on, and off what the CPU would bring along.
std::string feature_string(const Target& target);

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target);

// Triple, data layout and the flags that linking looks at.
void configure_module(llvm::Module& module, const llvm::TargetMachine& machine, const Target& target);

// Machine code of an optimised module.
std::string emit_file(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind);

}  // namespace ferry::codegen
