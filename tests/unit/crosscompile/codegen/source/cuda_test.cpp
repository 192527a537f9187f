// Tests that CUDA C compiles for every requested GPU, and that errors quote NVIDIA's compiler; no GPU is needed.
#include <doctest/doctest.h>

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/codegen/cuda/nvrtc.h"
#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/ptxas.h"
#include "tests/support/sample.h"
#include "tests/unit/crosscompile/codegen/source/gpu_programs.h"

#include <cstdlib>

using namespace ferry;
using namespace ferry::codegen_test;
using test::use_test_packages;

namespace {

std::string refusal(const std::string& text, const std::string& gpu) {
  try {
    (void)codegen::cuda::compile_cuda({text, "k.cu"}, gpu);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "none";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

// Each kernel for one of the GPUs, or for all with FERRY_GPU_TARGETS_ALL.
TEST_CASE("kernels printed as CUDA C become machine code for every GPU that is asked for") {
  use_test_packages();
  const bool is_long = std::getenv("FERRY_GPU_TARGETS_ALL") != nullptr;
  const std::uint64_t seed = test::sample_seed("FERRY_GPU_TARGETS_SEED");
  const Target target = resolve_target("cuda -arch=sm_80,sm_90");
  for (const GpuProgram& program : gpu_programs()) {
    const ir::Function function = compiled_for(program, target);
    const std::string text = codegen::emit_source(std::span(&function, 1), target, codegen::source::Language::cuda);
    INFO(program.name << "\n" << text);
    const std::string& drawn = target.gpus[test::part_of(program.name, target.gpus.size(), seed)];
    for (const std::string& gpu : target.gpus) {
      if (!is_long && gpu != drawn) continue;
      std::vector<std::uint8_t> cubin;
      CHECK_NOTHROW(cubin = codegen::cuda::compile_cuda({text, program.name + ".cu"}, gpu).bytes);
      REQUIRE(cubin.size() > 4);
      CHECK(std::string(cubin.begin() + 1, cubin.begin() + 4) == "ELF");
    }
  }
}

TEST_CASE("what NVRTC refuses is told with its messages and the text's lines") {
  use_test_packages();
  const std::string what = refusal("extern \"C\" __global__ void f(float* a) {\n  a[0] = nothing;\n}\n", "sm_80");
  CHECK(contains(what, "NVRTC refuses k.cu for sm_80:\n"));
  CHECK(contains(what, "k.cu(2): error: identifier \"nothing\" is undefined"));
  CHECK(contains(refusal("", "sm_12"), "expected a GPU that NVRTC "));
  CHECK(contains(refusal("", "sm_12"), "sm_80"));
}

TEST_CASE("a missing NVRTC is named with the ways to get it") {
  const char* before = std::getenv("FERRY_PTXAS");
  CHECK(before == nullptr);
  setenv("FERRY_PTXAS", "/nowhere/ptxas", 1);
  try {
    (void)codegen::cuda::expect_cuda_file(codegen::cuda::CudaFile::ptxas);
    FAIL_CHECK("expected a refusal");
  } catch (const CompileError& error) {
    CHECK(contains(error.what(), "expected ptxas, which assembles PTX, got no such file: '/nowhere/ptxas'"));
    CHECK(contains(error.what(), "pip install nvidia-cuda-nvcc-cu12"));
  }
  unsetenv("FERRY_PTXAS");
}
