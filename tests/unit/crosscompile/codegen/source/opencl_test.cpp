// OpenCL C runs on this machine's CPU by PoCL and computes what the interpreter does.
#include <doctest/doctest.h>

#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/target/resolve.h"
#include "tests/support/kernel_arguments.h"
#include "tests/unit/crosscompile/codegen/source/gpu_programs.h"
#include "tests/unit/crosscompile/codegen/source/opencl_device.h"

#include <cmath>
#include <cstring>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

// Sums of a dozen products, and math functions whose last places differ.
bool near(float a, float b) { return a == b || std::fabs(a - b) <= 1e-4f * std::max(std::fabs(a), std::fabs(b)); }

void check_results(const ir::Function& function, test::KernelArguments& expected, test::KernelArguments& got,
                   const std::string& text) {
  for (const ir::FunctionParameter& parameter : function.parameters) {
    if (parameter.direction == Direction::in) continue;
    const std::size_t bytes = dtype_bytes(parameter.buffer->dtype);
    const auto count = static_cast<std::size_t>(expected.size(parameter.name));
    for (std::size_t i = 0; i < count; ++i) {
      const auto* a = expected.data<unsigned char>(parameter.name) + i * bytes;
      const auto* b = got.data<unsigned char>(parameter.name) + i * bytes;
      float x = 0, y = 0;
      if (parameter.buffer->dtype == DType::f32) {
        std::memcpy(&x, a, sizeof x);
        std::memcpy(&y, b, sizeof y);
        if (near(x, y)) continue;
      }
      if (std::memcmp(a, b, bytes) == 0) continue;
      FAIL_CHECK("element ", i, " of '", parameter.name, "': expected ", x, ", got ", y, "\n", text);
      return;
    }
  }
}

}  // namespace

TEST_CASE("kernels printed as OpenCL C compute on PoCL what the interpreter says") {
  setenv("POCL_CACHE_DIR", FERRY_BINARY_DIR "/pocl", 0);
  const Target target = resolve_target("opencl");
  for (const GpuProgram& program : gpu_programs()) {
    CAPTURE(program.name);
    const ir::Function function = compiled_for(program, target);
    const std::string text = codegen::emit_source(std::span(&function, 1), target);
    for (const auto& sizes : program.sizes) {
      test::KernelArguments expected(function, sizes), got(function, sizes);
      REQUIRE(ir::interpret(function, expected.pointers()) == 0);
      CHECK_NOTHROW(run_opencl(text, function, sizes, got.pointers()));
      check_results(function, expected, got, text);
    }
  }
}
