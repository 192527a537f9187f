// Tests of what services ask of a compiler, and of what they do without one.
#include "tests/unit/host/kernel/fake_compiler.h"

#include <doctest/doctest.h>

#include "ferry/kernel/option_error.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emit_text.h"
#include "host/kernel/step_times.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const char* const kTwo =
    "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\ndef half(float(N) A) -> (B) { B(i) = A(i) / 2 }";

KernelSource two(const Compiler* compiler) {
  KernelOptions options;
  options.expression = kTwo;
  return read_kernel(compiler, options);
}

KernelSource module_for(const test::Folder& folder, const ModuleDevice& device) {
  const Bytes bytes = test::FakeCompiler::module_of({}, device);
  KernelOptions options;
  options.file = folder.file(device.kind + ".ferry", {bytes.begin(), bytes.end()});
  return read_kernel(nullptr, options);
}

}  // namespace

TEST_CASE("a compiler is given the call's sizes, the source and the other functions, and its notes are told") {
  test::FakeCompiler compiler;
  compiler.function.name = "twice";
  compiler.function.symbols = {"N"};
  compiler.function.parameters = {ParameterInfo()};
  compiler.function.parameters[0].name = "A";
  compiler.function.parameters[0].shape = {manifest_symbol(0)};
  compiler.notes = {"i is not vectorized"};
  compiler.module_notes = {"the module runs on few devices"};
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](const std::string& line) { told.push_back(line); };
  CallOptions call;
  call.sizes = {"N=12"};
  const CompiledKernel kernel = compile_kernel(two(&compiler), "twice", Target(), call, observer, CodeForm::relinkable);
  CHECK(kernel.module.manifest().functions.at(0).name == "twice");
  CHECK(compiler.source == kTwo);
  CHECK(compiler.sizes == SizesByName{{"N", 12}});
  CHECK(compiler.others == std::vector<std::string>{"twice", "half"});
  CHECK(compiler.form == CodeForm::relinkable);
  CHECK(told == std::vector<std::string>{"note: i is not vectorized"});
}

TEST_CASE("the compiler says which device a target is for") {
  test::FakeCompiler compiler;
  compiler.target.value.device = {DeviceKind::opencl, 1};
  CHECK(devices_for("some GPU", two(&compiler)) == std::vector<std::string>{"opencl:1"});
  CHECK(compiler.target_text == "some GPU");
  compiler.target.value.device = {};
  CHECK(devices_for("some CPU", two(&compiler)).empty());
}

TEST_CASE("without a compiler a module says which device it is for, and a target which of its kind") {
  const test::Folder folder;
  CHECK(devices_for("", module_for(folder, {"cpu", "x86_64", {}})).empty());
  const KernelSource gpu = module_for(folder, {"opencl", "", {}});
  CHECK(devices_for("", gpu) == std::vector<std::string>{"opencl"});
  CHECK(devices_for("opencl:1 -max-threads=64", gpu) == std::vector<std::string>{"opencl:1"});
  CHECK_THROWS_AS((void)devices_for("opencl:first", gpu), OptionError);
  CHECK_THROWS_WITH_AS((void)devices_for("opencl:1", two(nullptr)), doctest::Contains("kernel.tc needs a compiler"),
                       UsageError);
}

TEST_CASE("a kernel in C for which the compiler finds no signature has that of the other kernel") {
  const test::FakeCompiler compiler;
  const test::Folder folder;
  KernelOptions options;
  options.file = folder.file("bare.c", "void bare(void);\n");
  CHECK(function_of(read_kernel(&compiler, options, {}, "theirs"), "").name == "theirs");
  options.signature = "its own";
  CHECK(function_of(read_kernel(&compiler, options, {}, "theirs"), "").name == "its own");
}

TEST_CASE("a session that runs a kernel finds source lines with the kernel's compiler") {
  const test::FakeCompiler compiler;
  CHECK(source_line_of(two(&compiler).compiler)({}, 7) == "kernel.tc:7");
  CHECK_FALSE(source_line_of(two(nullptr).compiler));
}

TEST_CASE("a network is compiled for the call's sizes, and its steps are named after its nodes") {
  const test::Folder folder;
  test::FakeCompiler compiler;
  compiler.function.name = "net";
  compiler.function.symbols = {"N"};
  ParameterInfo x;
  x.name = "x";
  x.shape = {manifest_symbol(0), manifest_constant(3)};
  compiler.function.parameters = {x};
  CallStep step;
  step.symbol = "ferry_fn_net";
  compiler.function.plan.steps = {step, step};
  compiler.nodes = {"conv1", "relu1"};
  KernelOptions options;
  options.file = folder.file("net.onnx", "");
  options.fixed = {"S=128"};
  const KernelSource source = read_kernel(&compiler, options);
  CHECK(compiler.network.file == options.file);
  CHECK(compiler.network.sizes == std::map<std::string, std::int64_t>{{"S", 128}});
  CHECK(signature_of(source, "") == "net(in f32[N,3] x)");
  CHECK_FALSE(has_definition(source));
  CHECK_FALSE(may_leave_tensors(source));
  CallOptions call;
  call.arguments = {"x=f32[4,3]"};
  const CompiledKernel kernel = compile_kernel(source, "net", Target(), call, {}, CodeForm::relinkable);
  CHECK(compiler.sizes == SizesByName{{"N", 4}});
  CHECK(compiler.form == CodeForm::relinkable);
  std::vector<StepTime> steps(2);
  const std::vector<std::int64_t> symbols = {4};
  describe_step_times(kernel.module, symbols, steps);
  CHECK(steps[0].node == "conv1");
  CHECK(steps[1].node == "relu1");
  steps.resize(1);
  steps[0].node.clear();
  describe_step_times(kernel.module, symbols, steps);
  CHECK(steps[0].node.empty());
  options.schedule.text = "parallel i";
  CHECK_THROWS_WITH_AS(read_kernel(&compiler, options),
                       doctest::Contains("is a network, whose kernels have default schedules"), UsageError);
}

TEST_CASE("who keeps a network's module is told of the devices that it is for") {
  const test::Folder folder;
  test::FakeCompiler compiler;
  compiler.function.name = "net";
  compiler.notes = {"one kernel runs on the CPU"};
  compiler.module_notes = {"the module runs on few devices"};
  KernelOptions options;
  options.file = folder.file("net.onnx", "");
  const KernelSource source = read_kernel(&compiler, options);
  std::vector<std::string> told;
  Observer observer;
  observer.message = [&](const std::string& line) { told.push_back(line); };
  compile_kernel(source, "", Target(), {}, observer);
  CHECK(told == std::vector<std::string>{"note: one kernel runs on the CPU"});
  told.clear();
  compile_text(source, {}, Target(), observer);
  CHECK(told == std::vector<std::string>{"note: one kernel runs on the CPU", "note: the module runs on few devices"});
}

TEST_CASE("a size that a network does not have is refused") {
  const test::Folder folder;
  test::FakeCompiler compiler;
  compiler.function.name = "net";
  compiler.function.symbols = {"N"};
  KernelOptions options;
  options.file = folder.file("net.onnx", "");
  const KernelSource source = read_kernel(&compiler, options);
  TextRequest request;
  request.sizes = {"M=4"};
  CHECK_THROWS_WITH_AS(compile_text(source, request, Target()), "M: expected a size of the kernel: N", OptionError);
  for (const Stage stage : {Stage::object, Stage::space, Stage::point})
    CHECK_THROWS_WITH_AS(emit_text(source, {}, stage, Target()), doctest::Contains("expected one of the other stages"),
                         OptionError);
}
