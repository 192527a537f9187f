// Tests that OpenCL C, run on this machine's CPU by PoCL, computes the interpreter's results.
#include <doctest/doctest.h>

#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/target/resolve.h"
#include "tests/paths.h"
#include "tests/support/kernel_arguments.h"
#include "tests/unit/crosscompile/codegen/printed/opencl_device.h"
#include "tests/unit/crosscompile/codegen/source/gpu_programs.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr const char* kWithoutBarriers = "FERRY_TEST_WITHOUT_BARRIERS";

void leave_out(std::string& text, const std::string& part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
}

// Runs this program's OpenCL test in Oclgrind, a simulated device that detects data races, and returns its output.
// Oclgrind does not support everything that LLVM's optimisations generate.
std::string in_simulator(const std::string& environment, int* code) {
  const std::string command = environment + " oclgrind --data-races --build-options -cl-opt-disable /proc/" +
                              std::to_string(getpid()) + "/exe --test-case='kernels printed as OpenCL*' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char piece[4096];
  while (const std::size_t count = fread(piece, 1, sizeof piece, pipe)) output.append(piece, count);
  *code = pclose(pipe);
  return output;
}

// The tolerance covers sums of a dozen products, and math functions that differ in the last places.
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
    std::string text = codegen::emit_source(std::span(&function, 1), target, codegen::source::Language::opencl);
    if (std::getenv(kWithoutBarriers) != nullptr) leave_out(text, "barrier(CLK_LOCAL_MEM_FENCE);");
    for (const auto& sizes : program.sizes) {
      test::KernelArguments expected(function, sizes), got(function, sizes);
      REQUIRE(ir::interpret(function, expected.pointers()) == 0);
      CHECK_NOTHROW(run_opencl(text, function, sizes, got.pointers()));
      check_results(function, expected, got, text);
    }
  }
}

TEST_CASE("Oclgrind finds no race in kernels printed as they are, and one without their barriers") {
  int code = -1;
  const std::string clean = in_simulator("", &code);
  CHECK_MESSAGE(code == 0, clean);
  CHECK_MESSAGE(clean.find("data race") == std::string::npos, clean);
  const std::string broken = in_simulator(std::string(kWithoutBarriers) + "=1", &code);
  CHECK_MESSAGE(broken.find("data race at local memory address") != std::string::npos, broken);
}
