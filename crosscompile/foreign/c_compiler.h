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

}  // namespace ferry::foreign
