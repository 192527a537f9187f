// Says in a sentence what clang's report of its own crash comes to.
#pragma once

#include <string>

#include "ferry/target/target.h"

namespace ferry::foreign {

// Returns whether clang itself has failed, rather than refused a mistake.
bool is_clang_crash(const std::string& errors);

// Returns what follows the compiler's and the file's name: "cannot be compiled for armv7: clang's code generator fails
// in the function dot (Cannot select: ...)". `source` is the file's text, in which the line of an unsupported type is
// found.
std::string crash_text(const std::string& errors, const std::string& source, const std::string& file,
                       const Target& target);

}  // namespace ferry::foreign
