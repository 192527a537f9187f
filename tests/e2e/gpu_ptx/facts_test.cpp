// Tests of the facts reported about a GPU, of the choice of the compiler for it, and of extreme values and sizes.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "crosscompile/compile.h"
#include "crosscompile/target/resolve.h"
#include "ferry/compile.h"
#include "ferry/gpu_facts.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"
#include "module/module_file.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/e2e/gpu_ptx/ptx_device.h"
#include "tests/support/ptxas.h"

using namespace ferry;
using namespace ferry::test;

namespace {

constexpr const char* kSum = "def sum(float(N,K) A) -> (C) { C(i) +=! A(i,k) }";

std::vector<std::string> images_for(const std::string& target) {
  use_test_packages();
  const Target resolved = resolve_target(target);
  const lang::Program program = lang::parse(kSum, "sum.tc").at(0);
  const ir::Function lowered = lower::lower(program, autoschedule::default_schedule(program, resolved));
  const Result<ModuleFile> module = read_module(compile_module(std::span(&lowered, 1), resolved).bytes);
  REQUIRE(module.is_ok());
  std::vector<std::string> kinds;
  for (const CodeImage& image : module.value().images) kinds.push_back(image.name());
  return kinds;
}

template <class T>
std::vector<T> values_of(const Device& device, const Target& target, const char* function, const std::vector<T>& x) {
  const char* type = sizeof(T) == sizeof(float) ? "float" : "double";
  const std::string source = std::string("def s(") + type + "(N) A) -> (B) { B(i) = " + function + "(A(i)) }";
  const lang::Program program = lang::parse(source, "s.tc").at(0);
  const Module module = device.load(compile(program, target));
  return module["s"](x).template to_vector<T>();
}

// Checks relative errors; a subnormal result may in addition be off by two of the smallest subnormals.
template <class T>
void check_sigmoids(const std::vector<T>& x, const std::vector<T>& got) {
  REQUIRE(got.size() == x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double e = std::exp(-std::fabs(static_cast<long double>(x[i])));
    const long double expected = (x[i] < 0 ? e : 1) / (1 + e);
    CAPTURE(x[i]);
    CHECK(std::fabs(static_cast<long double>(got[i]) - expected) <=
          16 * std::numeric_limits<T>::epsilon() * expected + 2 * std::numeric_limits<T>::denorm_min());
  }
}

ConnectOptions with_cuda() {
  ConnectOptions options;
  options.devices = {"cuda"};
  return options;
}

}  // namespace

TEST_CASE("a GPU's limits are there for schedules in C++, and a session of the CPU alone has none") {
  const PtxDevice gpu;
  {
    const GpuFacts facts = gpu_facts(connect(gpu.address(), with_cuda()));
    CHECK(facts.name == "Fake GPU 0 (sm_80)");
    CHECK(facts.architecture == "sm_80");
    CHECK(facts.block_threads == 1024);
    CHECK(facts.block_shared_bytes == 232448);
    CHECK(facts.block_registers == 65536);
    CHECK(facts.warp_threads == 32);
    CHECK(facts.multiprocessors == 7);
    CHECK(facts.multiprocessor_threads == 2048);
    CHECK(facts.l2_bytes == 1 << 20);
    CHECK(facts.clock_mhz == 1980);
    CHECK(facts.memory_clock_mhz == 2619);
    CHECK(facts.memory_bytes_per_second == doctest::Approx(2 * 2619e6 * 5120 / 8));
  }
  CHECK_THROWS_WITH_AS(gpu_facts(connect(gpu.address())), doctest::Contains("expected a session with a GPU"), Error);
}

TEST_CASE("ferry device tells what a GPU's blocks may have") {
  const PtxDevice gpu;
  const Outcome text = run_ferry({"device", "-r", gpu.address()});
  CHECK(text.code == 0);
  INFO(text.out << text.err);
  CHECK(text.out.find("a block has at most 1,024 threads, 227 KiB of shared memory, 65,536 registers, warps of 32") !=
        std::string::npos);
  CHECK(text.out.find("7 multiprocessors of 2,048 threads, 1,980 MHz, 1.00 MiB of L2, 3,352 GB/s of memory") !=
        std::string::npos);
  const Outcome json = run_ferry({"device", "-r", gpu.address(), "--json"});
  CHECK(json.out.find("\"block_shared_bytes\": 232448") != std::string::npos);
}

TEST_CASE("a GPU that NVRTC does not know gets PTX by LLVM without being asked") {
  if (!has_nvrtc()) return;
  setenv("FERRY_NVRTC_GPUS", "75,80,90", 1);
  CHECK(images_for("cuda -arch=sm_61") == std::vector<std::string>{"ptx-sm_61"});
  CHECK(images_for("cuda -arch=sm_80") == std::vector<std::string>{"cubin-sm_80", "ptx-sm_80"});
  CHECK(images_for("cuda -arch=sm_60,sm_80") == std::vector<std::string>{"ptx-sm_60", "cubin-sm_80"});
  CHECK_THROWS_WITH_AS(images_for("cuda -arch=sm_61 -compiler=nvrtc"),
                       doctest::Contains("-compiler=llvm makes PTX for it"), CompileError);
  unsetenv("FERRY_NVRTC_GPUS");
}

TEST_CASE("sigmoid far below zero is as small as it should be") {
  const PtxDevice gpu;
  const std::vector<float> x = {-103.0F, -100.0F, -90.77F, -88.8F, -20.0F, -1.0F, 0.0F, 1.0F, 20.0F, 200.0F};
  const std::vector<double> wide = {-745.0, -720.0, -709.9, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0};
  use_test_packages();
  std::vector<std::string> targets = {"cuda -arch=sm_80 -compiler=llvm"};
  if (has_nvrtc()) targets.emplace_back("cuda -arch=sm_80 -compiler=nvrtc");
  for (const std::string& target : targets) {
    CAPTURE(target);
    check_sigmoids(x, values_of(connect(gpu.address(), with_cuda()), resolve_target(target), "sigmoid", x));
    check_sigmoids(wide, values_of(connect(gpu.address(), with_cuda()), resolve_target(target), "sigmoid", wide));
  }
  const Device cpu = connect(gpu.address());
  check_sigmoids(x, values_of(cpu, target_of(cpu), "sigmoid", x));
  check_sigmoids(wide, values_of(cpu, target_of(cpu), "sigmoid", wide));
}

TEST_CASE("round_even rounds halves to the even number and keeps signs, infinities and NaN") {
  const PtxDevice gpu;
  const auto check = [&]<class T>(const Target& target, T last) {
    std::vector<T> x = {0.5, 1.5, 2.5, 3.5, 0.25, std::numeric_limits<T>::denorm_min(), 0, last / 2 + T(0.5), last - 1};
    x.insert(x.end(), {last - T(0.5), last, last + 1, 2 * last - 1, T(HUGE_VAL), std::numeric_limits<T>::max()});
    for (std::size_t i = 0, count = x.size(); i < count; ++i) x.push_back(-x[i]);
    x.push_back(std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> got = values_of(connect(gpu.address(), with_cuda()), target, "round_even", x);
    REQUIRE(got.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i]);
      const T whole = std::isfinite(x[i]) ? x[i] - std::remainder(x[i], T(1)) : x[i];
      CHECK((std::isnan(x[i]) ? std::isnan(got[i]) : got[i] == whole && std::signbit(got[i]) == std::signbit(x[i])));
    }
  };
  use_test_packages();
  std::vector<std::string> targets = {"cuda -arch=sm_80 -compiler=llvm"};
  if (has_nvrtc()) targets.emplace_back("cuda -arch=sm_80 -compiler=nvrtc");
  for (const std::string& target : targets) {
    CAPTURE(target);
    check(resolve_target(target), 0x1p23F);
    check(resolve_target(target), 0x1p52);
  }
}

// The passes for LLVM and those for printed code each keep a part of this program that the other ones remove.
TEST_CASE("by LLVM alone a module has the plan of its own kernels, also where little of a program is left") {
  const PtxDevice gpu;
  const char* const source =
      "def f(int N, int P, const uint8(8,7,9) A0, uint8(0,13) A1, const float32(7,4,6) A2, uint8(6,2,6) A3) -> (S0) {\n"
      "  S3(i) +=! (((A0(i,r,r+i+1) + A0(i+1,r,r+i+1)) & (uint8(A2(min(i,6),r+2,i)) ^ uint8(r))) >> (A3(i/2,r,i) & "
      "uint8(8))) where i in 0:6, r in 0:2\n"
      "  S2(i,j) = float64(float32(-1.5)) where i in 0:7, j in 0:7\n"
      "  S1(i,j,k) = select((int64(k) < int64(k)), popcount(S3(j/N)), (k < 9 ? A0(i+2,k,k) : uint8(1))) where i in "
      "0:0, "
      "j in 0:6, k in 0:7\n"
      "  S0(i,j) *=! (r % 2 == 0 ? min(uint64((j >= 1 && j < 7 ? S1(i,j-1,r/P) : uint8(1))), uint64(S2(r%3,j+i))) : "
      "uint64(1)) where i in 0:0, j in 0:2, r in 0:7\n}";
  GpuProgram compiled;
  CHECK_NOTHROW(compiled = compiled_program(source, "", "", "cuda -arch=sm_80 -compiler=llvm"));
  CHECK(gpu.wrong(compiled, {{"N", 11}, {"P", 1}}) == "");
}

TEST_CASE("programs that are compiled for a size of 0 run") {
  const PtxDevice gpu;
  const struct {
    const char* source;
    std::vector<std::string> sizes;
  } kPrograms[] = {
      {"def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {"M", "N", "K"}},
      {"def c(float(C,H,W) I, float(O,C) K) -> (Y) {\n  P(c,h,w) = h > 0 && w > 0 ? I(c,h-1,w-1) : 0 where c in 0:C, h "
       "in 0:H+1, w in 0:W+1\n  Y(o,h,w) +=! P(c,h,w) * K(o,c) where h in 0:H, w in 0:W\n}",
       {"C", "H", "W", "O"}},
      {"def s(float(N,K) A) -> (B) {\n  M(i) max=! A(i,k)\n  E(i,j) = exp(A(i,j) - M(i))\n  S(i) +=! E(i,k)\n"
       "  B(i,j) = E(i,j) / S(i)\n}",
       {"N", "K"}},
  };
  for (const auto& program : kPrograms) {
    for (std::size_t zero = 0; zero <= program.sizes.size(); ++zero) {
      std::map<std::string, std::int64_t> fixed;
      for (std::size_t i = 0; i < program.sizes.size(); ++i)
        fixed[program.sizes[i]] = i == zero || zero == program.sizes.size() ? 0 : 5;
      CAPTURE(program.source);
      CAPTURE(zero);
      const GpuProgram compiled = compiled_program(program.source, "", "", "cuda -arch=sm_80 -compiler=llvm", fixed);
      CHECK(gpu.wrong(compiled, {}) == "");
    }
  }
}
