// What a ferry without a compiler says when it would need one.
#pragma once

#include <string>

namespace ferry {

// CompileError: "NAME needs a compiler, which this ferry is built without: ..."
[[noreturn]] void refuse_to_compile(const std::string& what);

}  // namespace ferry
