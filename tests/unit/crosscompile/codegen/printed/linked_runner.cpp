// The runner for kernels that are linked with it: C that ferry printed and another compiler compiled, with a table of
// them.
//
//   linked_runner CASES RESULTS
#include "tests/unit/crosscompile/codegen/llvm/runner/run_calls.h"

extern "C" {
struct LinkedKernel {
  const char* symbol;
  ferry_kernel kernel;
};
extern const LinkedKernel kLinkedKernels[];  // ends with a null symbol
}

int main(int count, char** words) {
  using ferry::runner::die;
  if (count != 3) die("expected CASES RESULTS");
  return ferry::runner::run_all(words[1], words[2], [](const std::string& symbol) {
    for (const LinkedKernel* known = kLinkedKernels; known->symbol != nullptr; ++known)
      if (symbol == known->symbol) return known->kernel;
    die("no kernel " + symbol);
  });
}
