// Tests of checking whole kernels: against each other on a device, under sanitizers, and thread by thread.
#include <doctest/doctest.h>

#include "ferry/error.h"
#include "ferry/kernel/option_error.h"
#include "host/verify/check.h"
#include "host/verify/check_against.h"
#include "host/verify/same_call.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n";

std::string in_c(const std::string& body) {
  return "#include <stdint.h>\n// ferry: twice(in f32[N] A, out f32[N] B)\n"
         "void twice(const float* a, float* b, int64_t n) {\n" +
         body + "}\n";
}
const std::string kRight = in_c("  for (int64_t i = 0; i < n; ++i) b[i] = a[i] + a[i];\n");
const std::string kWrong = in_c("  for (int64_t i = 0; i < n; ++i) b[i] = i == 2 ? 7 : a[i] + a[i];\n");
const std::string kOutside = in_c("  for (int64_t i = 0; i <= n; ++i) b[i] = 0;\n");

KernelOptions text(const std::string& expression, const std::string& schedule = {}) {
  KernelOptions options;
  options.expression = expression;
  options.schedule.text = schedule;
  return options;
}

KernelOptions named(const std::string& file) {
  KernelOptions options;
  options.file = file;
  return options;
}

CallOptions five() {
  CallOptions call;
  call.arguments = {"A=:iota"};
  call.sizes = {"N=5"};
  return call;
}

// Runs the kernel in C on a device of this machine.
struct Ran {
  Device device = local_device();
  FunctionInfo info;
  CallPlan plan;
  verify::Outputs outputs;

  explicit Ran(const std::string& file) {
    const KernelSource source = read_kernel(test::own_compiler(), named(file));
    const CompiledModule module = compile_kernel(source, "", target_of(device), five()).module;
    info = choose_function(module.manifest(), "", file);
    plan = plan_call(info, five());
    outputs = verify::outputs_of_call(device, module, info, plan);
  }
};

}  // namespace

TEST_CASE("two kernels are compared on one device with the same inputs") {
  const test::Folder folder;
  const Ran ran(folder.file("wrong.c", kWrong));
  const KernelSource right = read_kernel(test::own_compiler(), named(folder.file("right.c", kRight)));
  const std::vector<verify::OutputComparison> compared = verify::compare_on_device(
      ran.device, right, target_of(ran.device), {ran.info, ran.plan, ran.outputs}, five(), {});
  REQUIRE(compared.size() == 1);
  CHECK(compared.front().different == 1);
  CHECK(verify::difference_text(compared) == "B[2] 7 against 4 (1 of 5 elements differ)");
}

TEST_CASE("a kernel is compared with the definition of another") {
  const test::Folder folder;
  const Ran ran(folder.file("right.c", kRight));
  const std::vector<verify::CheckResult> checks = verify::check_definitions(
      verify::definitions_of({}, ran.info, read_kernel(test::own_compiler(), text(kTwice)), test::own_compiler()),
      {ran.info, ran.plan, ran.outputs}, nullptr);
  REQUIRE(checks.size() == 1);
  CHECK(checks.front().compared == 5);
  CHECK(checks.front().wrong == 0);
}

TEST_CASE("kernels that cannot be given the same tensors are told apart before anything runs") {
  const FunctionInfo one = function_of(read_kernel(test::own_compiler(), text(kTwice)), "");
  const FunctionInfo other =
      function_of(read_kernel(test::own_compiler(), text("def f(float(N,M) A) -> (B) { B(i,j) = A(i,j) }")), "");
  try {
    (void)verify::expect_same_parameters(one, other, "here");
    FAIL("expected a UsageError");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).starts_with("here: "));
  }
}

TEST_CASE("a kernel in C takes the signature of the kernel that it is checked against") {
  const test::Folder folder;
  const std::string bare =
      folder.file("bare.c", "void twice(const float* a, float* b, long n) { for (; n-- > 0;) b[n] = 2 * a[n]; }\n");
  const verify::CheckedPair pair =
      verify::read_checked_pair(test::own_compiler(), named(bare), folder.file("twice.tc", kTwice));
  CHECK(signature_of(pair.source, "") == "twice(in f32[N] A, out f32[N] B)");
  REQUIRE(pair.against);
  CHECK(has_definition(*pair.against));
}

TEST_CASE("sanitizers find an access outside of a tensor, and nothing in a kernel that is right") {
  const test::Folder folder;
  const std::string definition = folder.file("twice.tc", kTwice);
  const auto checked = [&](const std::string& text, const std::string& reference) {
    return verify::check(*test::own_compiler(),
                         {.kernel = named(folder.file("kernel.c", text)), .call = five(), .reference = reference});
  };
  const verify::CheckReport right = checked(kRight, definition);
  CHECK(right.is_fine());
  CHECK(right.target == "host");
  REQUIRE(right.findings.checks.size() == 1);
  CHECK(right.findings.checks.front().compared == 5);

  const verify::CheckReport wrong = checked(kWrong, definition);
  CHECK_FALSE(wrong.is_fine());
  CHECK(wrong.mistake.empty());
  CHECK(wrong.findings.checks.front().wrong == 1);

  const verify::CheckReport differs = checked(kWrong, folder.file("right.c", kRight));
  CHECK_FALSE(differs.is_fine());
  CHECK(differs.findings.compared.front().different == 1);

  const verify::CheckReport outside = checked(kOutside, "");
  CHECK_FALSE(outside.is_fine());
  CHECK(outside.mistake.find("heap-buffer-overflow") != std::string::npos);
  CHECK(outside.details.find("kernel.c") != std::string::npos);
}

TEST_CASE("a schedule for a GPU is interpreted thread by thread, and its results are checked") {
  int compiling = 0;
  std::vector<std::string> steps;
  Observer observer;
  observer.compilation = [&](const std::string&) {
    ++compiling;
    return StepGuard();
  };
  observer.step = [&](const std::string& what) {
    steps.push_back(what);
    return StepGuard();
  };
  const verify::CheckReport report = verify::check(
      *test::own_compiler(),
      {.kernel = text(kTwice, "split i 2; bind i.outer blockIdx.x; bind i.inner threadIdx.x"), .call = five()},
      observer);
  CHECK(report.is_fine());
  CHECK(report.target.starts_with("opencl"));
  REQUIRE(report.findings.checks.size() == 1);
  CHECK(report.findings.checks.front().compared == 5);
  CHECK(compiling == 1);
  CHECK(steps == std::vector<std::string>{"interpreting twice", "checking"});
}

TEST_CASE("an index that data leads outside of its tensor is a mistake, interpreted and on a device") {
  CallOptions call = five();
  call.arguments.emplace_back("I=:iota");
  call.sizes = {"N=5,M=9"};
  const verify::CheckRequest request{
      .kernel = text("def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) where i in 0:M }"), .call = call};
  for (const verify::CheckReport& report :
       {verify::check(*test::own_compiler(), request), verify::check(test::own_compiler(), local_device(), request)}) {
    CHECK_FALSE(report.is_fine());
    CHECK(report.mistake.find("outside its shape") != std::string::npos);
    CHECK(report.findings.checks.empty());
  }
}

TEST_CASE("a kernel that runs on a device is checked against its definition and against the reference") {
  const test::Folder folder;
  const Device device = local_device();
  const verify::CheckReport by_definition =
      verify::check(test::own_compiler(), device, {.kernel = text(kTwice), .call = five()});
  CHECK(by_definition.is_fine());
  CHECK(by_definition.target == target_of(device).text);
  CHECK(by_definition.findings.checks.size() == 1);

  const verify::CheckRequest request{
      .kernel = named(folder.file("wrong.c", kWrong)), .call = five(), .reference = folder.file("twice.tc", kTwice)};
  const verify::CheckReport by_reference = verify::check(test::own_compiler(), device, request);
  CHECK_FALSE(by_reference.is_fine());
  REQUIRE(by_reference.findings.checks.size() == 1);
  CHECK(by_reference.findings.checks.front().first_wrong == "B[2] is 7.00000000, expected 4.00000000");

  verify::CheckRequest in_c = request;
  in_c.reference = folder.file("right.c", kRight);
  const verify::CheckReport by_run = verify::check(test::own_compiler(), device, in_c);
  CHECK_FALSE(by_run.is_fine());
  CHECK(by_run.findings.compared.front().first_difference == "B[2] 7 against 4");
}

TEST_CASE("a product whose operands have the bits of TF32 is found by exact sums, on a device and under sanitizers") {
  const test::Folder folder;
  const std::string definition =
      folder.file("mm.tc", "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n");
  const auto product = [&](const std::string& name, const std::string& operand) {
    return folder.file(name,
                       "#include <stdint.h>\n#include <string.h>\n"
                       "// ferry: mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)\n"
                       "static float narrow(float x) {\n"
                       "  uint32_t bits;\n  memcpy(&bits, &x, 4);\n  bits = (bits + 0x1000) & ~UINT32_C(0x1fff);\n"
                       "  memcpy(&x, &bits, 4);\n  return x;\n}\n"
                       "void mm(const float* a, const float* b, float* c, int64_t M, int64_t K, int64_t N) {\n"
                       "  for (int64_t i = 0; i < M; ++i)\n    for (int64_t j = 0; j < N; ++j) {\n"
                       "      float sum = 0;\n      for (int64_t k = 0; k < K; ++k) {\n"
                       "        const float x = a[i * K + k];\n        sum += " +
                           operand +
                           " * b[k * N + j];\n      }\n      c[i * N + j] = sum;\n    }\n"
                           "  (void)narrow;\n}\n");
  };
  CallOptions call;
  call.sizes = {"M=7,N=5,K=6"};
  const std::string right = product("right.c", "x"), wrong = product("wrong.c", "narrow(x)");
  const auto checks = [&](const std::string& file) {
    const verify::CheckRequest request{.kernel = named(file), .call = call, .reference = definition};
    return std::vector{verify::check(test::own_compiler(), local_device(), request),
                       verify::check(*test::own_compiler(), request)};
  };
  for (const verify::CheckReport& report : checks(right)) {
    CHECK(report.is_fine());
    REQUIRE(report.findings.probes.size() == 2);
    CHECK(report.findings.probes[0].checks.at(0).exact == 35);
  }
  for (const verify::CheckReport& report : checks(wrong)) {
    REQUIRE(report.findings.probes.size() == 2);
    CHECK(report.findings.probes[0].mistake().starts_with("with A: odd integers of 12 bits; B: -1, 0, 1: C["));
    CHECK(report.findings.probes[1].mistake() == "");
    CHECK(report.findings.mistake() != "");
  }
}

TEST_CASE("what cannot be checked is refused with the option that is at fault") {
  const test::Folder folder;
  const std::string in_c = folder.file("right.c", kRight);
  const auto option_of = [](const auto& work) {
    try {
      work();
    } catch (const OptionError& error) {
      return error.option();
    }
    return Option::kernel;
  };
  const Compiler* compiler = test::own_compiler();
  CHECK(option_of([&] { verify::check(*compiler, {.kernel = named(in_c), .call = five(), .target = "cuda"}); }) ==
        Option::target);
  CHECK(option_of([&] { verify::check(*compiler, {.kernel = text(kTwice), .call = five(), .reference = in_c}); }) ==
        Option::reference);
  CHECK(option_of([&] { verify::check(compiler, local_device(), {.kernel = named(in_c), .call = five()}); }) ==
        Option::reference);
  const std::string two = folder.file("two.tc", kTwice + "def other(float(N) A) -> (B) { B(i) = A(i) }\n");
  CHECK_THROWS_WITH_AS(verify::read_checked_pair(compiler, named(in_c), two),
                       (two + ": expected a kernel with one function, got 2").c_str(), OptionError);
  CHECK_THROWS_AS(verify::check(*compiler, {.kernel = named(folder.file("bad.ferry", "no module")), .call = five()}),
                  UsageError);
}
