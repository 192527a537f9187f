// The outcome of a call, and the steps that the tests of all kinds of generated code share.
#pragma once

#include "module/manifest.h"
#include "tests/unit/crosscompile/codegen/llvm/everywhere.h"
#include "tests/unit/crosscompile/codegen/llvm/runner/runner_files.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::codegen_test {

struct Outcome {
  std::int32_t result = 0;
  std::vector<Bytes> arguments;
};

std::vector<Outcome> interpret_cases(const std::vector<Case>& cases);
// Returns the call of a case, for a function that went through the passes.
runner::Call call_of(const ir::Function& function, const Case& one);
// Splits the runner's output into the outcome of each case.
std::vector<Outcome> split_results(const std::vector<std::uint8_t>& bytes, const std::vector<Case>& cases);
// Describes the difference; empty if the outcomes agree.
std::string difference_of(const Case& one, const Outcome& expected, const Outcome& got, const std::string& arch);

}  // namespace ferry::codegen_test
