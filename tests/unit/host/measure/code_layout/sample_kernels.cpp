#include "tests/unit/host/measure/code_layout/sample_kernels.h"

#include "crosscompile/foreign/c_compiler.h"
#include "host/kernel/emit_text.h"
#include "tests/support/architectures/architectures.h"
#include "tests/support/model_bytes.h"
#include "tests/unit/host/kernel/own_compiler.h"

namespace ferry::test {

namespace {

constexpr const char* kMatmul = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(i,j) +=! A(i,k) * B(k,j) }\n";
constexpr const char* kMath = "def curve(float(N) A) -> (B) { B(i) = exp(A(i)) + tanh(A(i)) * erf(A(i)) }\n";

// Has constants, variables with and without contents, and functions that call each other and the device.
constexpr const char* kC = R"(// ferry: mix(in f32[n] x, out f32[n] y)
#include <math.h>
#include <stdint.h>
static const float table[7] = {1, 0.5f, 3, -2, 0.25f, 8, -1};
static volatile float scale = 3;
static float scratch[100];
static __attribute__((noinline)) float one(float x, int64_t i) { return x * table[i % 7] + expf(x); }
void mix(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    scratch[i % 100] = one(x[i], i);
    y[i] = scratch[i % 100] * scale;
  }
}
)";

constexpr const char* kCpp = R"(// ferry: twice(in f32[n] x, out f32[n] y)
#include <algorithm>
#include <cstdint>
template <class T> __attribute__((noinline)) T doubled(T x) { return x + std::max(x, T(0)); }
extern "C" void twice(const float* x, float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = doubled(x[i]);
}
)";

constexpr const char* kIr = R"(; ferry: first(in f32[n] x, out f32[1] y)
@step = internal constant [3 x float] [float 2.0, float 4.0, float 8.0]
define void @first(ptr %x, ptr %y, i64 %n) {
  %i = urem i64 %n, 3
  %p = getelementptr [3 x float], ptr @step, i64 0, i64 %i
  %s = load float, ptr %p
  %a = load float, ptr %x
  %b = fmul float %a, %s
  store float %b, ptr %y
  ret void
}
)";

// Returns at once: it has no output.
std::string assembly_for(const Target& target) {
  return std::string(".text\n.globl nothing\n.type nothing, %function\nnothing:\n  ") +
         architecture_named(target.arch_name).return_instruction + "\n.size nothing, . - nothing\n";
}

std::string text_of(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// y = relu(x * w + b) with weights that are packed by an init plan, and a second product.
std::string network() {
  std::vector<float> weights, more;
  for (int i = 0; i < 24 * 40; ++i) weights.push_back(static_cast<float>(i % 13 - 6) / 8);
  for (int i = 0; i < 40 * 10; ++i) more.push_back(static_cast<float>(i % 7 - 3) / 4);
  ModelBytes model;
  model.input("x", {"N", 24}).output("y");
  model.initializer(tensor("w", kFloat, {24, 40}, raw(weights)));
  model.initializer(tensor("v", kFloat, {40, 10}, raw(more)));
  model.node("MatMul", {"x", "w"}, {"a"}, {}, "first").node("Relu", {"a"}, {"b"}, {}, "cut");
  model.node("MatMul", {"b", "v"}, {"c"}, {}, "second").node("Softmax", {"c"}, {"y"}, {}, "last");
  return model.text();
}

}  // namespace

std::vector<SampleKernel> sample_kernels(const Folder& folder, const Target& target) {
  const auto text = [](const char* expression, const std::string& schedule) {
    KernelOptions options;
    options.expression = expression;
    options.schedule.text = schedule;
    return options;
  };
  const auto file = [](const std::string& name, const std::string& signature = {}) {
    KernelOptions options;
    options.file = name;
    options.signature = signature;
    return options;
  };
  const CallOptions n{.arguments = {}, .sizes = {"n=301"}};
  const std::string c = folder.file("mix.c", kC);
  KernelOptions lines = text(kMatmul, "");
  lines.debug = true;
  const KernelSource own = read_kernel(own_compiler(), text(kMath, ""));
  const std::string own_object = emit_text(own, {}, Stage::object, target).text;
  return {
      {"default schedule", text(kMatmul, ""), {{}, {"M=17,N=19,K=23"}}},
      {"schedule", text(kMatmul, "split i 8\nparallel i.outer"), {{}, {"M=17,N=19,K=23"}}},
      {"lines", lines, {{}, {"M=17,N=19,K=23"}}},
      {"math", text(kMath, ""), {{}, {"N=301"}}},
      {"C", file(c), n},
      {"C++", file(folder.file("twice.cpp", kCpp)), n},
      {"LLVM IR", file(folder.file("first.ll", kIr)), n},
      {"assembly", file(folder.file("nothing.s", assembly_for(target)), "nothing(inout f32[n] x)"), n},
      {"object",
       file(folder.file("mix.o", text_of(foreign::compile_object(c, {}, target))), "mix(in f32[n] x, out f32[n] y)"),
       n},
      {"object of ferry", file(folder.file("curve.o", own_object)), {{}, {"N=301"}}},
      {"network", file(folder.file("net.onnx", network())), {{}, {"N=5"}}},
  };
}

}  // namespace ferry::test
