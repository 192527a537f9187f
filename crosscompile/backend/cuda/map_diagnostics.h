// Maps a compiler's diagnostics about printed kernels back to the program: which tensor the line computes, and where in
// the user's text that tensor is defined.
#pragma once

#include "crosscompile/ir/function.h"

#include <span>
#include <string>

namespace ferry {

// Returns, for each "NAME.cu(LINE): error" in the compiler's diagnostics, a line such as
//   line 31 computes 'B' of 'logarithm' (log.tc:2)
// or "" where the diagnostic is about no kernel. `text` is the compiled source, and `functions` are what it was printed
// from.
std::string map_diagnostics(const std::string& diagnostics, const std::string& text,
                            std::span<const ir::Function> functions);

}  // namespace ferry
