// Tests of user-defined intrinsics on GPUs: a rule's result becomes a function call in the GPU's language, and a
// function that the language does not know is reported with the messages of its compiler and the name from the program.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "crosscompile/make_backend.h"
#include "crosscompile/target/resolve.h"
#include "ferry/compile.h"
#include "ferry/intrinsics.h"
#include "ferry/lang/tensor.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"
#include "tests/support/ptxas.h"

using namespace ferry;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Builds B(i) = NAME(A(i) + 2), where these rules define the intrinsic.
lang::Program program_with(const std::string& name, std::vector<IntrinsicRule> rules) {
  const auto context = std::make_shared<Context>();
  context->add_intrinsic(name, same_float_types(1));
  for (IntrinsicRule& rule : rules) context->add_rule(name, std::move(rule));
  const lang::Expr n = lang::var("N");
  const lang::Tensor a = lang::placeholder({n}, DType::f32, "A");
  const lang::Tensor b = lang::compute({n}, [&](auto& i) { return context->call(name, {a(i[0]) + 2.0f}); }, "B");
  return lang::make_program("logarithm", {lang::in(a), lang::out(b)}, {}, context);
}

// Returns a rule that calls a function of the target's language by name.
IntrinsicRule function_of(const std::string& arch, const std::string& function) {
  return {.arch = arch, .lower = [function](const IntrinsicCall& call) {
            return ir::Call::make(call.type, ir::Callee::external(function), call.arguments);
          }};
}

std::string text_for(const lang::Program& program, const Target& target) {
  const ir::Function lowered = lower::lower(program, autoschedule::default_schedule(program, target));
  return make_backend(target)->text(TextForm::source, std::span(&lowered, 1), {});
}

std::vector<float> run_on_opencl(const lang::Program& program, const std::vector<float>& a) {
  ConnectOptions options;
  options.devices = {"opencl"};
  const Device device = local_device(options);
  const Module module = device.load(compile(program, target("opencl")));
  return module["logarithm"](a).to_vector<float>();
}

std::vector<float> some_numbers() {
  std::vector<float> a;
  for (int i = 0; i < 1000; ++i) a.push_back(static_cast<float>(i * 37 % 1000) / 7);
  return a;
}

}  // namespace

TEST_CASE("mylog becomes the logarithm of each language and computes it on an OpenCL device") {
  const lang::Program program = program_with(
      "mylog", {{.lower = [](const IntrinsicCall& call) { return ir::call_math("log", call.arguments); }}});
  const std::string opencl = text_for(program, resolve_target("opencl"));
  CHECK_MESSAGE(contains(opencl, " = log(A["), opencl);
  const std::string cuda = text_for(program, resolve_target("cuda -arch=sm_80"));
  CHECK_MESSAGE(contains(cuda, " = logf(A["), cuda);
  const std::vector<float> a = some_numbers(), b = run_on_opencl(program, a);
  REQUIRE(b.size() == a.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double expected = std::log(static_cast<double>(a[i] + 2));
    wrong += std::fabs(b[i] - expected) > 1e-6 * (1 + std::fabs(expected)) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a rule may call a function that only the GPU's language has, without a word about it elsewhere") {
  test::use_test_packages();
  const lang::Program program =
      program_with("log_to_base_10", {function_of("opencl", "log10"), function_of("cuda", "log10f")});
  const std::vector<float> a = some_numbers(), b = run_on_opencl(program, a);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double expected = std::log10(static_cast<double>(a[i] + 2));
    wrong += std::fabs(b[i] - expected) > 1e-6 * (1 + std::fabs(expected)) ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK_NOTHROW(compile(program, target("cuda -arch=sm_80 -compiler=nvrtc")));
  CHECK_THROWS_AS(compile(program, target("x86_64")), CompileError);
}

TEST_CASE("what CUDA C does not know in an intrinsic is told with the compiler's words, the tensor and the rule") {
  test::use_test_packages();
  std::string message = "none";
  try {
    (void)compile(program_with("mylog", {function_of("cuda", "nolog")}), target("cuda -arch=sm_80"));
  } catch (const CompileError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(contains(message, "NVRTC refuses logarithm.cu for sm_80:"));
  CHECK(contains(message, "error: identifier \"nolog\" is undefined"));
  CHECK(contains(message, " computes 'B' of 'logarithm'"));
  CHECK(contains(message, "comes from the rule of an intrinsic: give it another for the architecture 'cuda'"));
}

TEST_CASE("a driver's compiler that does not know an intrinsic's function is quoted") {
  std::string message = "none";
  try {
    (void)run_on_opencl(program_with("mylog", {function_of("opencl", "nolog")}), some_numbers());
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    message = error.what();
  }
  CAPTURE(message);
  CHECK(contains(message, "nolog"));
  CHECK(contains(message, " says:\n"));
}

TEST_CASE("sigmoid is OpenCL C that a person can read, and right on an OpenCL device") {
  const std::string text = "def logarithm(float(N) A) -> (B) { B(i) = sigmoid(A(i)) }";
  const lang::Program program = lang::parse(text, "sigmoid.tc").at(0);
  const std::string opencl = text_for(program, resolve_target("opencl"));
  CAPTURE(opencl);
  CHECK(contains(opencl, "__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void ferry_fn_logarithm("));
  CHECK(contains(opencl, "__global const float* restrict A"));
  CHECK(contains(opencl, "sigmoid_f32(A["));
  std::vector<float> a = some_numbers();
  for (float& value : a) value -= 70;
  const std::vector<float> b = run_on_opencl(program, a);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double expected = 1 / (1 + std::exp(-static_cast<double>(a[i])));
    wrong += std::fabs(b[i] - expected) > 1e-6 * expected ? 1 : 0;
  }
  CHECK(wrong == 0);
}
