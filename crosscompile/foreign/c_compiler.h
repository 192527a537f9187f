// C, C++, LLVM IR and assembly into an object, by clang as a program: freestanding, for any target, with no sysroot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/target/target.h"

namespace ferry::foreign {

// Whether clang is the one to ask: .c .cc .cpp .cxx .C .ll .bc .s .S
bool is_compiled(const std::string& file);

// CompileError with clang's own words, or how to get clang when there is none. FERRY_CLANG names another program.
std::vector<std::uint8_t> compile_object(const std::string& file, const std::vector<std::string>& flags,
                                         const Target& target);

// C and C++ alone: what clang understands of the functions whose names contain this one, as -ast-dump prints it.
// CompileError as above.
bool has_syntax(const std::string& file);
std::string syntax_tree(const std::string& file, const std::vector<std::string>& flags, const Target& target,
                        const std::string& function);

// The same with debugging information and code that watches itself, for this machine.
void compile_sanitized(const std::string& file, const std::vector<std::string>& flags, const Target& target,
                       const std::string& sanitizers, const std::string& object);
// clang as the linker of a whole program for this machine. CompileError says what to install where it has no
// sanitizers.
void link_program(const std::vector<std::string>& words, const std::string& program);

struct ProgramEnd {
  int code = 0;  // 128 and more: the signal that ended it
  std::string errors;
};
// Runs it to its end, with these variables beside those of this process.
ProgramEnd run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment);

}  // namespace ferry::foreign
