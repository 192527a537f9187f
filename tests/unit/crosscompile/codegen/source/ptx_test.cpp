// Tests that LLVM generates PTX and that NVIDIA's assembler accepts it; no GPU is needed.
#include <doctest/doctest.h>

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/codegen/llvm/gpu/emit_ptx.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "crosscompile/target/ptx_target.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/ptxas.h"
#include "tests/support/sample.h"
#include "tests/unit/crosscompile/codegen/source/gpu_programs.h"

#include <algorithm>
#include <cstdlib>

using namespace ferry;
using namespace ferry::codegen_test;
using codegen::cuda::CudaFile;
using test::assembled;
using test::use_test_packages;

namespace {

Target ptx_target(const std::string& gpu, bool has_libdevice) {
  return ptx_target_like(resolve_target("cuda -arch=sm_80,sm_90"), gpu, has_libdevice);
}

std::string ptx_of(const GpuProgram& program, const Target& target) {
  const ir::Function function = compiled_for(program, target);
  const std::string libdevice =
      target.capabilities.math_library ? codegen::cuda::expect_cuda_file(CudaFile::libdevice) : "";
  return codegen::emit_ptx(std::span(&function, 1), target, libdevice);
}

const GpuProgram& program(const std::string& name) {
  const auto& all = gpu_programs();
  const auto found = std::find_if(all.begin(), all.end(), [&](const GpuProgram& one) { return one.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

bool contains(const std::string& text, const std::string& part) { return count(text, part) > 0; }

}  // namespace

TEST_CASE("kernels become PTX that ptxas assembles for every GPU") {
  use_test_packages();
  for (const char* gpu : {"sm_80", "sm_90"})
    for (const GpuProgram& one : gpu_programs()) {
      const std::string ptx = ptx_of(one, ptx_target(gpu, true));
      INFO(one.name << "\n" << ptx);
      CHECK(contains(ptx, std::string(".target ") + gpu));
      CHECK(assembled(ptx, gpu) == "");
    }
}

// Each kernel for a drawn third of the GPUs, or for all with FERRY_GPU_TARGETS_ALL, as in codegen_source_long_test;
// FERRY_GPU_TARGETS_SEED draws others.
TEST_CASE("kernels become PTX for older GPUs too, whose threads shuffle as well") {
  use_test_packages();
  const bool is_long = std::getenv("FERRY_GPU_TARGETS_ALL") != nullptr;
  const std::uint64_t seed = test::sample_seed("FERRY_GPU_TARGETS_SEED");
  for (const char* gpu : {"sm_50", "sm_52", "sm_60", "sm_61", "sm_62", "sm_70", "sm_75"})
    for (const GpuProgram& one : gpu_programs()) {
      const bool is_drawn = test::part_of(one.name + " " + gpu, 3, seed) == 0;
      if (!is_long && !is_drawn && one.name != "row_sums") continue;
      const std::string ptx = ptx_of(one, ptx_target(gpu, true));
      INFO(one.name << "\n" << ptx);
      CHECK(contains(ptx, std::string(".target ") + gpu));
      CHECK_FALSE(contains(ptx, "cp.async"));
      if (one.name == "row_sums") CHECK(contains(ptx, "shfl.sync.bfly.b32"));
      // A newer assembler may no longer support older GPUs, but it still accepts their PTX.
      if (one.name == "row_sums" || one.name == "floats") CHECK(assembled(ptx, "sm_80") == "");
    }
}

TEST_CASE("without libdevice ferry's own math functions are compiled, and others are refused") {
  use_test_packages();
  const Target target = ptx_target("sm_80", false);
  for (const GpuProgram& one : gpu_programs()) {
    if (one.name == "floats") continue;  // contains a float64
    const std::string ptx = ptx_of(one, target);
    INFO(one.name << "\n" << ptx);
    CHECK_FALSE(contains(ptx, "__nv_"));
    CHECK(assembled(ptx, "sm_80") == "");
  }
  try {
    (void)ptx_of(program("floats"), target);
    FAIL_CHECK("expected a refusal");
  } catch (const CompileError& error) {
    CHECK(contains(error.what(), "expected one of those, or libdevice.10.bc"));
    CHECK(contains(error.what(), "got 'tanh' and no such file"));
  }
}

TEST_CASE("a kernel in PTX has the parameters and the block of its launch") {
  use_test_packages();
  const Target target = ptx_target("sm_80", true);
  for (const GpuProgram& one : gpu_programs()) {
    const ir::Function function = compiled_for(one, target);
    const std::string ptx =
        codegen::emit_ptx(std::span(&function, 1), target, codegen::cuda::expect_cuda_file(CudaFile::libdevice));
    INFO(one.name << "\n" << ptx);
    const std::vector<passes::GpuKernel> kernels = passes::extract_kernels(function);
    CHECK(count(ptx, ".visible .entry ") == kernels.size());
    for (const passes::GpuKernel& launch : kernels) {
      CHECK(contains(ptx, ".visible .entry " + launch.symbol + "("));
      CHECK(count(ptx, "\t.param .u64 " + launch.symbol + "_param_") == launch.parameters.size());
    }
  }
}

TEST_CASE("tiles of a product stay in registers, and are fetched through the cache for what nobody writes") {
  const std::string ptx = ptx_of(program("matmul_tiled"), ptx_target("sm_80", false));
  INFO(ptx);
  CHECK_FALSE(contains(ptx, ".local"));
  CHECK(contains(ptx, ".reqntid 4, 4, 1"));
  CHECK(contains(ptx, "fma.rn.f32"));
  CHECK(contains(ptx, "ld.global.nc.f32"));
  CHECK(contains(ptx, "st.shared.f32"));
  CHECK(count(ptx, "bar.sync") == 2);
}

TEST_CASE("copies of vectors are one instruction where they are aligned") {
  const std::string ptx = ptx_of(program("vector_copies"), ptx_target("sm_80", false));
  INFO(ptx);
  CHECK(contains(ptx, "ld.global.nc.v4.f32"));
  CHECK(contains(ptx, "st.global.v4.f32"));
}

TEST_CASE("threads that combine shuffle") {
  const std::string ptx = ptx_of(program("row_sums"), ptx_target("sm_80", false));
  INFO(ptx);
  CHECK(count(ptx, "shfl.sync.bfly.b32") == 6);  // five within a warp, one over the two warps
  CHECK(count(ptx, "bar.sync") == 1);
}

TEST_CASE("a GPU that LLVM does not know yet gets PTX of the newest one before it") {
  CHECK(contains(ptx_of(program("add"), ptx_target("sm_120", false)), ".target sm_90\n"));
  try {
    (void)ptx_of(program("add"), ptx_target("sm_12", false));
    FAIL_CHECK("expected a refusal");
  } catch (const CompileError& error) {
    CHECK(contains(error.what(), "expected a GPU that LLVM makes PTX for (sm_20, "));
  }
}
