#include "host/measure/roofline.h"

#include <doctest/doctest.h>

#include "host/kernel/compile_kernel.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;
using bench::Roofline;

namespace {

std::optional<Roofline> measured(const std::string& text, const std::string& sizes) {
  const Device device = local_device();
  const Compiler& compiler = *test::own_compiler();
  const Target target = compiler.target_of(device.facts());
  const KernelSource kernel = read_kernel(&compiler, {.file = {}, .expression = text, .function = {}, .schedule = {}});
  const FunctionInfo info = function_of(kernel, "");
  CallOptions call;
  call.sizes = {sizes};
  BenchOptions bench;
  bench.threads = 1;
  return bench::measure_roofline(device, compiler, target, info, plan_call(info, call, input_range(kernel)), bench);
}

}  // namespace

TEST_CASE("what is possible is the lesser of the arithmetic peak and what a copy's rate allows") {
  // One operation a byte: memory moves 10 G bytes a second.
  const Roofline memory{1e6, 1e6, {100e9, 10e9}};
  CHECK(memory.is_limited_by_memory());
  CHECK(memory.attainable() == 10e9);
  CHECK(memory.share(2e-4) == doctest::Approx(0.5));
  const Roofline arithmetic{50e6, 1e6, {100e9, 10e9}};
  CHECK_FALSE(arithmetic.is_limited_by_memory());
  CHECK(arithmetic.intensity() == 50);
  CHECK(arithmetic.attainable() == 100e9);
  CHECK(arithmetic.share(2e-3) == doctest::Approx(0.25));
}

TEST_CASE("a kernel's roofline has its operations, and each tensor once") {
  const auto found =
      measured("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "M=8,N=16,K=32");
  REQUIRE(found.has_value());
  CHECK(found->flops == 2.0 * 8 * 16 * 32);
  CHECK(found->bytes == 4.0 * (8 * 32 + 32 * 16 + 8 * 16));
  CHECK(found->peak_dtype == DType::f32);
  // As of every machine that runs tests.
  CHECK(found->peak.flops > 1e8);
  CHECK(found->peak.flops < 1e13);
  CHECK(found->peak.bytes > 1e8);
}

TEST_CASE("kernels of integers and kernels that only copy have no roofline") {
  CHECK_FALSE(measured("def sum(int32(N) A) -> (S) { S() +=! A(i) }", "N=100").has_value());
  CHECK_FALSE(measured("def copy(float(N) A) -> (B) { B(i) = A(i) }", "N=100").has_value());
}
