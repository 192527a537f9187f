// What a compiler's complaint about printed kernels means to whoever wrote the program: which tensor the line computes,
// and where in the user's text that is said.
#pragma once

#include "crosscompile/ir/function.h"

#include <span>
#include <string>

namespace ferry {

// For each place "NAME.cu(LINE): error" in the compiler's words, a line such as
//   line 31 computes 'B' of 'logarithm' (log.tc:2)
// "" where the complaint is about no kernel. `text` is what was compiled, the functions what it was printed from.
std::string blame(const std::string& complaint, const std::string& text, std::span<const ir::Function> functions);

}  // namespace ferry
