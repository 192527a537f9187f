// Compiles C, C++, LLVM IR and assembly to an object, with clang as a child process: freestanding, for any target,
// without a sysroot. The process is confined (crosscompile/confine), since the file may be anybody's: it reads what
// clang_files.h says, writes to a temporary folder, and ends after a minute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crosscompile/link/temporary_folder.h"
#include "ferry/target/target.h"

namespace ferry::foreign {

// Returns whether clang compiles files of this kind: .c .cc .cpp .cxx .C .ll .bc .s .S
bool is_compiled(const std::string& file);
// Returns whether the file is LLVM IR, as text or bitcode.
bool is_ir(const std::string& file);

// Throws CompileError with clang's own message, or with advice on how to install clang when it is missing. It is
// clang-19 if that is there, else another from version 14 on; FERRY_CLANG names one.
std::vector<std::uint8_t> compile_object(const std::string& file, const std::vector<std::string>& flags,
                                         const Target& target);

// Returns whether the file is C or C++, of which clang knows how functions are declared.
bool has_syntax(const std::string& file);
// For C and C++ only: likewise, for the debug information, which describes each function.
std::vector<std::uint8_t> compile_with_declarations(const std::string& file, const std::vector<std::string>& flags,
                                                    const Target& target);

// For LLVM IR only: returns it as the text that LLVM prints.
std::vector<std::uint8_t> print_ir(const std::string& file, const std::vector<std::string>& flags,
                                   const Target& target);

// Compiles for this machine, with debug information and sanitizer instrumentation. Returns an object.
std::vector<std::uint8_t> compile_sanitized(const std::string& file, const std::vector<std::string>& flags,
                                            const Target& target, const std::string& sanitizers);
// Links a whole program for this machine with clang, in the folder with the inputs. Where clang has no sanitizers,
// CompileError says what to install.
void link_program(const std::vector<std::string>& words, const std::string& program,
                  const link::TemporaryFolder& folder);

}  // namespace ferry::foreign
