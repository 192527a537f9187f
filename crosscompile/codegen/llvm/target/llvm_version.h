// The version of LLVM that generates the code; other patch levels generate other code.
#pragma once

#include <string>

namespace ferry::codegen {

// "19.1.7", of the library that is loaded. Where lld and LLVM's headers were of another version when ferry was built:
// "19.1.7, built with 19.1.6".
std::string llvm_version();

}  // namespace ferry::codegen
