// The error of a ferry without a compiler when one is needed.
#pragma once

#include <string>

namespace ferry {

// Throws CompileError: "NAME needs a compiler, which this ferry is built without: ..."
[[noreturn]] void refuse_to_compile(const std::string& what);

}  // namespace ferry
