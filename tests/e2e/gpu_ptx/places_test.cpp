// Runs argmax and argmin of long rows in the PTX interpreter.
#include <doctest/doctest.h>

#include "tests/e2e/gpu_ptx/ptx_device.h"

using namespace ferry;
using namespace ferry::test;

namespace {

// The best values occur in many places, and about one in a thousand elements of B is NaN.
const char* const kSource = R"(
def places(float32(M,K) A) -> (B, V, I, W, J) {
  B(m,k) = sqrt(round(A(m,k) * 500) + 499)
  V, I(m) argmax=! round(A(m,k) * 3)
  W, J(m) argmin=! B(m,k)
}
def place(float32(M,K) A) -> (I) { I() argmax=! round(A(m,k) * 3) }
)";

void check_places(const std::string& target) {
  const PtxDevice device({"FERRY_FAKE_CUDA_SEED=3"});
  for (const char* function : {"places", "place"}) {
    CAPTURE(function);
    const GpuProgram compiled = compiled_program(kSource, function, "", target);
    for (const auto& [rows, columns] : {std::pair(1, 4099), {3, 1000}, {5, 257}, {2, 1}, {1, 0}, {0, 3}}) {
      CAPTURE(rows);
      CAPTURE(columns);
      CHECK(device.wrong(compiled, {{"M", rows}, {"K", columns}}) == "");
    }
  }
}

}  // namespace

TEST_CASE("places of the best values of long rows are the first ones, as PTX of LLVM") {
  check_places("cuda -arch=sm_80 -compiler=llvm");
}

TEST_CASE("places of the best values of long rows are the first ones, as PTX that NVRTC makes of the CUDA C") {
  if (has_nvrtc()) check_places("cuda -arch=sm_80 -compiler=nvrtc");
}
