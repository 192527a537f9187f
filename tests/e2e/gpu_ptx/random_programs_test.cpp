// Runs random programs of the fuzzer under ferry's default schedule for CUDA in the PTX interpreter.
#include <doctest/doctest.h>

#include <cstdlib>

#include "crosscompile/ir/error.h"
#include "tests/e2e/gpu_ptx/ptx_device.h"
#include "tests/fuzz/cases/generate_program.h"

using namespace ferry;
using namespace ferry::test;

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void run_random(const std::string& target, std::uint64_t first, std::uint64_t cases) {
  const PtxDevice device({"FERRY_FAKE_CUDA_SEED=" + std::to_string(first)});
  std::uint64_t refused = 0;
  for (std::uint64_t seed = first; seed < first + cases; ++seed) {
    fuzz::Random random(seed);
    fuzz::FuzzCase made = fuzz::generate_program(random);
    made.seed = seed;
    made.target = target;
    INFO(fuzz::as_test(made));
    GpuProgram compiled;
    try {
      compiled = compiled_program(fuzz::source_of(made), "", "", target);
    } catch (const CompileError& error) {
      // Some programs read outside of a tensor, which is refused as on a CPU.
      const std::string message = error.what();
      CHECK_MESSAGE(message.find("expected it to stay within") != std::string::npos, message);
      ++refused;
      continue;
    }
    const std::string wrong = device.wrong(compiled, made.sizes, seed);
    // A requirement on sizes that divides by a size of 0 cannot be evaluated.
    if (wrong.find(": division by zero") != std::string::npos) {
      CHECK(wrong.find("f: requires ") == 0);
      ++refused;
      continue;
    }
    // The kernels check every element of a stage, the reference evaluator only those that the results need.
    if (wrong.find("' outside its shape: expected ") != std::string::npos) {
      ++refused;
      continue;
    }
    CHECK_MESSAGE(wrong.empty(), wrong);
  }
  CHECK(refused * 4 <= cases);
}

}  // namespace

TEST_CASE("random programs compute the same as PTX of LLVM") {
  run_random("cuda -arch=sm_80 -compiler=llvm", setting("FERRY_PTX_SEED", 7001), setting("FERRY_PTX_CASES", 40));
}

TEST_CASE("random programs compute the same as PTX that NVRTC makes of the CUDA C") {
  if (!has_nvrtc()) return;
  run_random("cuda -arch=sm_80 -compiler=nvrtc", setting("FERRY_PTX_SEED", 8001), setting("FERRY_PTX_CASES", 20));
}
