// Runs the same cases as C that ferry prints and another compiler compiles.
#pragma once

#include "tests/unit/crosscompile/codegen/llvm/everywhere.h"
#include "tests/unit/crosscompile/codegen/llvm/outcome.h"
#include "tests/unit/crosscompile/codegen/printed/printed_program.h"

#include <vector>

namespace ferry::codegen_test {

void check_c(const test::CCompiler& compiler, const std::vector<Case>& cases, const std::vector<Outcome>& expected,
             bool run_passes);

}  // namespace ferry::codegen_test
