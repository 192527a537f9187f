// Tests of compiling what a user named and running it on a device of this machine, and of what the caller is told.
#include "host/kernel/compile_kernel.h"

#include <doctest/doctest.h>

#include "ferry/error.h"
#include "host/kernel/kernel_failure.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n";

struct Recorder {
  std::vector<std::string> messages, steps;
  int compiling = 0, compiled = 0;

  Observer observer() {
    Observer observer;
    observer.message = [this](const std::string& line) { messages.push_back(line); };
    observer.step = [this](const std::string& what) {
      steps.push_back(what);
      return StepGuard();
    };
    observer.compilation = [this](const std::string&) {
      ++compiling;
      return StepGuard(this, [](Recorder* self) { ++self->compiled; });
    };
    return observer;
  }
};

KernelSource text(const std::string& expression, const std::string& schedule = {}) {
  KernelOptions options;
  options.expression = expression;
  options.schedule.text = schedule;
  return read_kernel(test::own_compiler(), options);
}

CallOptions sized(const std::string& sizes) {
  CallOptions call;
  call.sizes = {sizes};
  call.arguments = {"A=:iota"};
  return call;
}

std::vector<float> run(const KernelSource& source, const CallOptions& call, const Observer& observer = {}) {
  const Device device = local_device();
  const CompiledKernel kernel = compile_kernel(source, "", target_for(device, "", source, observer), call, observer);
  const FunctionInfo& info = choose_function(kernel.module.manifest(), "", source.name);
  const Function function = device.load(kernel.module)[info.name];
  const std::vector<Argument> arguments = make_arguments(info, plan_call(info, call), device, observer);
  return run_kernel(device, {info.name}, [&] { return function.call(arguments); }).front().to_vector<float>();
}

}  // namespace

TEST_CASE("a text is compiled for the device and computes there, and the caller hears of it") {
  Recorder recorder;
  CHECK(run(text(kTwice), sized("N=4"), recorder.observer()) == std::vector<float>{0, 2, 4, 6});
  CHECK(recorder.steps == std::vector<std::string>{"compiling twice"});
  CHECK(recorder.compiling == 1);
  CHECK(recorder.compiled == 1);
  CHECK(recorder.messages.empty());
}

TEST_CASE("a failure to compile ends what the observer was told of") {
  Recorder recorder;
  CHECK_THROWS_AS(compile_kernel(text(kTwice, "split q 4"), "", target("host"), {}, recorder.observer()), CompileError);
  CHECK(recorder.compiling == 1);
  CHECK(recorder.compiled == 1);
}

TEST_CASE("a module needs no compilation, and its own target is taken for it on a GPU") {
  const test::Folder folder;
  const KernelSource source = text(kTwice);
  const CompiledModule module = compile_kernel(source, "", target("host"), {}).module;
  KernelOptions options;
  options.file = folder.file("twice.ferry", {module.bytes().begin(), module.bytes().end()});
  Recorder recorder;
  CHECK(run(read_kernel(test::own_compiler(), options), sized("N=3"), recorder.observer()) ==
        std::vector<float>{0, 2, 4});
  CHECK(recorder.compiling == 0);
  CHECK(devices_for("", read_kernel(test::own_compiler(), options)).empty());
  CHECK(devices_for("opencl", source) == std::vector<std::string>{"opencl"});
}

TEST_CASE("a kernel in C is compiled by clang and computes on the device") {
  const test::Folder folder;
  KernelOptions options;
  options.file = folder.file("half.c",
                             "#include <stdint.h>\n// ferry: half(in f32[N] A, out f32[N] B)\n"
                             "void half(const float* a, float* b, int64_t n) {\n"
                             "  for (int64_t i = 0; i < n; ++i) b[i] = a[i] / DIVISOR;\n}\n");
  options.c_flags = " -DDIVISOR=2  -O1";
  Recorder recorder;
  CHECK(run(read_kernel(test::own_compiler(), options), sized("N=3"), recorder.observer()) ==
        std::vector<float>{0, 0.5f, 1});
  CHECK(recorder.steps == std::vector<std::string>{"compiling " + options.file});
}

TEST_CASE("a vectorized axis that this target runs one element after the other is noted") {
  Recorder recorder;
  const KernelSource source = text(
      "def pool(int(9,40) I) -> (Y) {\n"
      "Y(h,w) max=! w%7 + kw >= 3 ? I(h,w%7+kw-3) : -7 where kw in 0:5, h in 0:9, w in 0:40 }",
      "Y: vectorize w");
  // Baseline x86-64 has no masked loads.
  (void)compile_kernel(source, "", target("llvm -mtriple=x86_64-linux-gnu -mcpu=x86-64"), {}, recorder.observer());
  REQUIRE(recorder.messages.size() == 1);
  CHECK(recorder.messages.front() ==
        "note: pool: the vectorized axis 'w' runs one element after the other on this target: its iterations depend on "
        "each other, or what is inside differs between them");
}

TEST_CASE("without a compiler a text is refused with what to do, and a module needs none") {
  const test::Folder folder;
  KernelOptions options;
  options.expression = kTwice;
  const KernelSource twice = read_kernel(nullptr, options);
  try {
    (void)compile_kernel(twice, "", Target(), sized("N=3"));
    FAIL("expected a UsageError");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).starts_with("kernel.tc needs a compiler, which this ferry is built without: "));
  }
  const CompiledModule module = compile(twice.as_text()->programs, target("host"), kTwice);
  KernelOptions compiled;
  compiled.file = folder.file("twice.ferry", {module.bytes().begin(), module.bytes().end()});
  const KernelSource source = read_kernel(nullptr, compiled);
  CHECK(run(source, sized("N=3")) == std::vector<float>{0, 2, 4});
  CHECK_FALSE(source_line_of(source.compiler));
}

TEST_CASE("sizes that no call can have are refused before anything is compiled for them") {
  const KernelSource source = text("def head(float(N) A) -> (B) { B(i) = A(i + 5) where i in 0:N-5 }");
  Recorder recorder;
  CHECK_THROWS_AS(compile_kernel(source, "", target("host"), sized("N=3"), recorder.observer()), Error);
}

TEST_CASE("a kernel that reports an index outside of its tensor has failed itself") {
  const KernelSource source = text("def pick(float(N) A, int32(M) I) -> (B) { B(i) = A(I(i)) where i in 0:M }");
  CallOptions call = sized("N=4,M=9");
  call.arguments.push_back("I=:iota");
  try {
    (void)run(source, call);
    FAIL("expected a KernelFailed");
  } catch (const KernelFailed& error) {
    CHECK(error.code() == ErrorCode::kernel_crashed);
    CHECK(std::string(error.what()).starts_with("pick: "));
  }
}
