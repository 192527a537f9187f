// Compiles C, C++, LLVM IR and assembly to an object, with clang as a child process: freestanding, for any target,
// without a sysroot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/target/target.h"

namespace ferry::foreign {

// Returns whether clang compiles files of this kind: .c .cc .cpp .cxx .C .ll .bc .s .S
bool is_compiled(const std::string& file);

// Throws CompileError with clang's own message, or with advice on how to install clang when it is missing. FERRY_CLANG
// names another program.
std::vector<std::uint8_t> compile_object(const std::string& file, const std::vector<std::string>& flags,
                                         const Target& target);

// For C and C++ only: returns clang's syntax tree of the functions whose names contain `function`, as -ast-dump prints
// it. Throws CompileError as above.
bool has_syntax(const std::string& file);
std::string syntax_tree(const std::string& file, const std::vector<std::string>& flags, const Target& target,
                        const std::string& function);

// Compiles for this machine, with debug information and sanitizer instrumentation.
void compile_sanitized(const std::string& file, const std::vector<std::string>& flags, const Target& target,
                       const std::string& sanitizers, const std::string& object);
// Links a whole program for this machine with clang. Where clang has no sanitizers, CompileError says what to install.
void link_program(const std::vector<std::string>& words, const std::string& program);

struct ProgramEnd {
  int code = 0;          // 128 + N when signal N ended it
  bool is_late = false;  // the deadline ended it
  std::string errors;
};
// Runs the program to its end, or for at most this many seconds, with these variables added to the environment of this
// process.
ProgramEnd run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                       double deadline);

}  // namespace ferry::foreign
