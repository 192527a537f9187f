// LLVM's code generator for a target: one TargetMachine per emission, since threads must not share one.
#pragma once

#include "ferry/target/target.h"

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace ferry::codegen {

// Returns the CPU that LLVM generates code for: that of the target, or another one that it schedules for better.
std::string machine_cpu(const Target& target);

// Returns "+avx2,+fma,...,-crc": all features that are on, and as off those that the CPU would otherwise imply.
std::string feature_string(const Target& target);

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target);

// Sets the triple, the data layout and the flags that linking checks.
void configure_module(llvm::Module& module, const llvm::TargetMachine& machine, const Target& target);

// Returns the machine code of an optimised module.
std::string emit_file(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind);

}  // namespace ferry::codegen
