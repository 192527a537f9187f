// The compiler that this library contains.
#pragma once

#include "host/compiler/api/compiler.h"

namespace ferry {

// Null in a client without a compiler.
const Compiler* own_compiler();
// Throws Error there, with the code "unsupported".
const Compiler& expect_own_compiler();

}  // namespace ferry
