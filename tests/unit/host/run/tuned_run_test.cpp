// Kernels and networks with schedules that tuning has found: which code runs at which sizes, and that it is right.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "crosscompile/target/resolve.h"
#include "host/compiler/llvm/network.h"
#include "host/graph/graph.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emit_text.h"
#include "host/kernel/step_times.h"
#include "host/run/run_once.h"
#include "tests/support/network_builder.h"
#include "tests/unit/host/kernel/other_point.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using test::OtherPoint;
using test::own_compiler;
using test::TunedFor;

namespace {

const char* const kProduct = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";
const char* const kSum = "def add(float(M,N) A, float(M,N) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }\n";

KernelSource read(const std::string& text, TunedFor what = TunedFor::fixed_sizes) {
  KernelSource source = read_kernel(own_compiler(), {.file = {}, .expression = text, .function = {}, .schedule = {}});
  source.tuned = std::make_shared<const OtherPoint>(*own_compiler(), what);
  return source;
}

CallOptions sizes(const std::string& text) {
  CallOptions call;
  call.sizes = {text};
  return call;
}

// Returns the symbols of the code that a call runs.
std::vector<std::string> symbols_run(const CompiledModule& module, const std::string& name, const CallOptions& call) {
  const Device device = local_device();
  const Function function = device.load(module)[name];
  const CallPlan plan = plan_call(function.info(), call);
  std::vector<std::string> symbols;
  for (const StepTime& step : function.call_timed(make_arguments(function.info(), plan, device)).steps)
    symbols.push_back(step.kernel);
  return symbols;
}

// Runs the kernel and compares it with its definition.
bool is_right(const KernelSource& source, const CallOptions& call) {
  RunRequest request;
  request.kernels.source = source;
  request.call = call;
  request.by_definition = true;
  const RunReport report = run_once([](const ConnectOptions& options) { return local_device(options); }, request);
  return !report.findings.checks.empty() && report.findings.is_fine();
}

}  // namespace

TEST_CASE("the module has code for the tuned sizes beside that for all others, and calls choose by their sizes") {
  const KernelSource source = read(kProduct);
  const Target target = own_compiler()->target_of(local_device().facts());
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](const std::string& line) { told.push_back(line); };
  const CompiledKernel compiled = compile_kernel(source, "mm", target, sizes("M=37,N=19,K=23"), observer);
  CHECK(told == std::vector<std::string>{"mm: another point"});
  REQUIRE(compiled.tuned.size() == 1);
  CHECK(compiled.tuned[0].sizes == SizesByName{{"M", 37}, {"N", 19}, {"K", 23}});
  REQUIRE(compiled.module.manifest().functions.size() == 1);
  CHECK(signature_text(compiled.module.manifest().functions[0]) == signature_of(source, "mm"));
  CHECK(symbols_run(compiled.module, "mm", sizes("M=37,N=19,K=23")) == std::vector<std::string>{"ferry_fn_mm_tuned"});
  for (const char* other : {"M=37,N=19,K=24", "M=19,N=37,K=23", "M=1,N=1,K=1"})
    CHECK(symbols_run(compiled.module, "mm", sizes(other)) == std::vector<std::string>{"ferry_fn_mm"});
  CHECK(compiled.module.schedule().find("def mm_tuned") != std::string::npos);
}

TEST_CASE("what is tuned computes the same as by definition, at the tuned sizes and at others") {
  for (const char* text : {"M=37,N=19,K=23", "M=1,N=33,K=5"}) {
    CHECK(is_right(read(kProduct), sizes(text)));
    CHECK(is_right(read(kProduct, TunedFor::any_sizes), sizes(text)));
  }
}

TEST_CASE("a schedule for any sizes takes the place of the default") {
  const KernelSource source = read(kProduct, TunedFor::any_sizes);
  KernelSource by_default = source;
  by_default.tuned.reset();
  const Target target = resolve_target("x86-64-v3");
  const CallOptions call = sizes("M=64,N=64,K=64");
  const CompiledKernel tuned = compile_kernel(source, "mm", target, call),
                       untuned = compile_kernel(by_default, "mm", target, call);
  CHECK(tuned.module.manifest().functions[0].plan.steps.size() == 1);
  CHECK(tuned.module.schedule() != untuned.module.schedule());
  CHECK(untuned.tuned.empty());
}

TEST_CASE("every function of a text takes what is known for it") {
  const KernelSource source = read(std::string(kProduct) + kSum);
  const Target target = own_compiler()->target_of(local_device().facts());
  const CompiledModule module = compile_text(source, {.sizes = {"M=8,N=24,K=5"}}, target);
  REQUIRE(module.manifest().functions.size() == 2);
  CHECK(symbols_run(module, "mm", sizes("M=8,N=24,K=5")) == std::vector<std::string>{"ferry_fn_mm_tuned"});
  CHECK(symbols_run(module, "mm", sizes("M=9,N=24,K=5")) == std::vector<std::string>{"ferry_fn_mm"});
  CHECK(symbols_run(module, "add", sizes("M=8,N=24")) == std::vector<std::string>{"ferry_fn_add_tuned"});
  CHECK(symbols_run(module, "add", sizes("M=8,N=25")) == std::vector<std::string>{"ferry_fn_add"});
  // Where only some of its sizes are known, a function has no code of its own for them.
  const CompiledModule some = compile_text(source, {.sizes = {"M=8,N=24"}}, target);
  CHECK(symbols_run(some, "add", sizes("M=8,N=24")) == std::vector<std::string>{"ferry_fn_add_tuned"});
  CHECK(symbols_run(some, "mm", sizes("M=8,N=24,K=5")) == std::vector<std::string>{"ferry_fn_mm"});
}

TEST_CASE("constants are packed for both codes, and both read their own") {
  const std::string text = "def mm(float(M,K) A, const float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  for (const char* call : {"M=37,N=64,K=23", "M=64,N=64,K=64"}) CHECK(is_right(read(text), sizes(call)));
}

TEST_CASE("a schedule or a point that the user chose is taken as it is") {
  KernelOptions options{.file = {}, .expression = kProduct, .function = {}, .schedule = {}};
  options.schedule.points = {"C: tile=1x1"};
  KernelSource source = read_kernel(own_compiler(), options);
  source.tuned = std::make_shared<const OtherPoint>(*own_compiler(), TunedFor::fixed_sizes);
  CHECK(compile_kernel(source, "mm", resolve_target("x86-64-v3"), sizes("M=64,N=64,K=64")).tuned.empty());
}

TEST_CASE("the stages show the code for the tuned sizes, but for C, in which nothing would call it") {
  const KernelSource source = read(kProduct);
  const TextRequest request{.sizes = {"M=64,N=64,K=64"}};
  const Target target = resolve_target("x86-64-v3");
  for (const Stage stage : {Stage::schedule, Stage::point, Stage::loops, Stage::assembly})
    CHECK_MESSAGE(emit_text(source, request, stage, target).text.find("mm_tuned") != std::string::npos,
                  stage_name(stage));
  CHECK(emit_text(source, request, Stage::c, resolve_target("c")).text.find("mm_tuned") == std::string::npos);
}

TEST_CASE("the kernels of a network take what is known for them as programs by themselves") {
  const graph::Size batch = graph::Size::symbol("N");
  test::NetworkBuilder network;
  const graph::TensorId x = network.input("x", {batch, 40});
  const graph::TensorId y =
      network.node(graph::Operator::matmul, {x, network.weights("w", {40, 24})}, graph::MatmulAttributes{});
  network.output(network.node(graph::Operator::softmax, {y}, graph::DimensionAttributes{1}), "y");
  const std::shared_ptr<const Network> made = make_network(network.graph);
  const OtherPoint tuned(*own_compiler(), TunedFor::fixed_sizes);
  const Device device = local_device();
  const Target target = own_compiler()->target_of(device.facts());
  const auto compile = [&](const TunedSchedules* schedules, SizesByName sizes) {
    Compiled compiled = made->compile({target, std::move(sizes), CodeForm::linked, schedules});
    return CompiledModule(std::move(compiled.module), std::move(compiled.blobs));
  };
  const auto run = [&](const CompiledModule& module, const CallOptions& call) {
    const Function function = device.load(module)["net"];
    const CallPlan plan = plan_call(function.info(), call);
    TimedOutputs timed = function.call_timed(make_arguments(function.info(), plan, device));
    describe_step_times(module, plan.symbols, timed.steps);
    return timed;
  };
  const auto floats = [](const DeviceTensor& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.elements()));
    tensor.read(values.data());
    return values;
  };
  const CompiledModule with = compile(&tuned, {{"N", 7}}), without = compile(nullptr, {{"N", 7}});
  for (const char* size : {"N=7", "N=5"}) {
    const TimedOutputs found = run(with, sizes(size)), expected = run(without, sizes(size));
    const std::vector<float> a = floats(found.outputs[0]), b = floats(expected.outputs[0]);
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-5));
    REQUIRE(found.steps.size() == expected.steps.size());
    for (std::size_t s = 0; s < found.steps.size(); ++s) {
      CHECK(found.steps[s].kernel.ends_with("_tuned") == (std::string(size) == "N=7"));
      CHECK(found.steps[s].node == expected.steps[s].node);
      CHECK(found.steps[s].bytes == expected.steps[s].bytes);
    }
  }
  // Where no size is open there is nothing to compare.
  test::NetworkBuilder fixed;
  const graph::TensorId in = fixed.input("x", {9, 40});
  fixed.output(fixed.node(graph::Operator::matmul, {in, fixed.weights("w", {40, 24})}, graph::MatmulAttributes{}), "y");
  Compiled compiled = make_network(fixed.graph)->compile({target, {}, CodeForm::linked, &tuned});
  const CompiledModule module(std::move(compiled.module), std::move(compiled.blobs));
  for (const Step& step : module.manifest().functions[0].plan.steps) CHECK(std::holds_alternative<CallStep>(step));
  CHECK(compiled.notes.size() == 1);
}
