// The compiler that tests of services use.
#pragma once

#include <memory>

#include "ferry/compile.h"
#include "host/compiler/llvm/llvm_compiler.h"

namespace ferry::test {

inline const Compiler* own_compiler() {
  static const std::unique_ptr<const Compiler> made = make_compiler();
  return made.get();
}

}  // namespace ferry::test
