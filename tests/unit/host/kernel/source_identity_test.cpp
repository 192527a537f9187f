// Tests of which changes count as another kernel or compiler.
#include "host/kernel/source_identity.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "ferry/error.h"
#include "host/kernel/compile_kernel.h"
#include "tests/support/model_bytes.h"
#include "tests/unit/host/kernel/other_point.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;
using namespace ferry::test;

namespace {

const char* const kTwo =
    "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\ndef half(float(N) A) -> (B) { B(i) = A(i) / 2 }";
const char* const kScaled =
    "// ferry: f(in f32[n] x, out f32[n] y)\n#include <stdint.h>\n#include \"scale.h\"\n"
    "void f(const float* x, float* y, int64_t n) { for (int64_t i = 0; i < n; ++i) y[i] = SCALE * x[i]; }\n";

struct Case {
  KernelOptions kernel;
  CallOptions call;
  std::string function;
  std::string target = "x86-64-v3";
};

std::optional<SourceIdentity> maybe_identity(const Case& one) {
  return source_identity(read_kernel(own_compiler(), one.kernel), one.function,
                         own_compiler()->resolve_target(one.target).value, one.call);
}

Hash identity(const Case& one) {
  const std::optional<SourceIdentity> identity = maybe_identity(one);
  REQUIRE(identity.has_value());
  return identity->hash;
}

Case text() {
  Case one;
  one.kernel.expression = kTwo;
  one.call.sizes = {"N=100"};
  one.function = "twice";
  return one;
}

Case file(const std::string& path) {
  Case one;
  one.kernel.file = path;
  return one;
}

}  // namespace

TEST_CASE("what a kernel's code depends on is part of its identity, and nothing else") {
  const Case base = text();
  CHECK(identity(base) == identity(text()));
  const auto is_same = [&](auto change) {
    Case one = text();
    change(one);
    return identity(one) == identity(base);
  };
  CHECK(is_same([](Case& one) { one.kernel.expression_name = "other.tc"; }));
  CHECK(is_same([](Case& one) { one.kernel.schedule.file = kDefaultSchedule; }));
  CHECK(is_same([](Case& one) { one.call.seed = 7; }));
  CHECK(is_same([](Case& one) { one.call = {{"A=f32[100]"}, {}, 0}; }));
  CHECK_FALSE(is_same([](Case& one) { one.kernel.expression += "\n"; }));
  CHECK_FALSE(is_same([](Case& one) { one.function = "half"; }));
  CHECK_FALSE(is_same([](Case& one) { one.kernel.schedule.file = kUnscheduled; }));
  CHECK_FALSE(is_same([](Case& one) { one.kernel.schedule.points = {"B: lanes=4"}; }));
  CHECK_FALSE(is_same([](Case& one) { one.kernel.schedule.text = "split i 8"; }));
  CHECK_FALSE(is_same([](Case& one) { one.kernel.fixed = {"N=100"}; }));
  CHECK_FALSE(is_same([](Case& one) { one.kernel.debug = true; }));
  CHECK_FALSE(is_same([](Case& one) { one.call.sizes = {"N=101"}; }));
  CHECK_FALSE(is_same([](Case& one) { one.target = "x86-64"; }));
  Case knob = text(), other_knob = text();
  knob.kernel.schedule = {.file = {}, .text = "split i $a in {8,16}", .knobs = {"a=8"}};
  other_knob.kernel.schedule = {.file = {}, .text = "split i $a in {8,16}", .knobs = {"a=16"}};
  CHECK(identity(knob) != identity(other_knob));
}

TEST_CASE("a kernel in C is identified by its code: headers and flags count, comments and folders do not") {
  const Folder a, b;
  a.file("scale.h", "#define SCALE 2\n");
  b.file("scale.h", "#define SCALE 2 // twice\n");
  const Case first = file(a.file("f.c", kScaled));
  const Hash base = identity(first);
  CHECK(identity(file(b.file("f.c", std::string("/* the same */ ") + kScaled))) == base);
  a.file("scale.h", "#define SCALE 3\n");
  CHECK(identity(first) != base);
  a.file("scale.h", "#define SCALE 2\n");
  CHECK(identity(first) == base);
  Case flags = first, signature = first, target = first;
  flags.kernel.c_flags = "-fno-vectorize";
  CHECK(identity(flags) != base);
  flags.kernel.c_flags = "-DUNUSED=1";
  CHECK(identity(flags) == base);
  signature.kernel.signature = "f(in f32[n] x, inout f32[n] y)";
  CHECK(identity(signature) != base);
  target.target = "aarch64";
  CHECK(identity(target) != base);
}

TEST_CASE("files that reach an object without the preprocessor count") {
  const Folder folder;
  folder.file("table.bin", std::string(16, 'a'));
  Case one = file(folder.file("f.s",
                              ".text\n.globl f\n.type f, @function\nf:\n  lea table(%rip), %rax\n"
                              "  ret\n.size f, . - f\n.section .rodata\ntable:\n.incbin \"" +
                                  folder.path("table.bin") + "\"\n"));
  one.kernel.signature = "f(inout f32[n] x)";
  const Hash base = identity(one);
  CHECK(identity(one) == base);
  folder.file("table.bin", std::string(16, 'b'));
  CHECK(identity(one) != base);
}

TEST_CASE("a network is identified by its files, its bindings and the sizes of the call") {
  const Folder folder;
  const auto write = [&](const char* op, float weight) {
    ModelBytes model;
    model.input("x", {"N", 4}).output("y").initializer(external(tensor("w", kFloat, {4}), "weights.bin"));
    model.node("Add", {"x", "w"}, {"sum"}, {}, "first").node(op, {"sum"}, {"y"}, {}, "second");
    folder.file("weights.bin", raw<float>({1, 2, 3, weight}));
    folder.file("net.onnx", model.text());
    // Files that have just been written may be written again at the same time of the file system.
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
  };
  write("Relu", 4);
  Case one = file(folder.path("net.onnx"));
  one.call.sizes = {"N=3"};
  const Hash base = identity(one);
  CHECK(identity(one) == base);
  Case sizes = one, winograd = one;
  sizes.call.sizes = {"N=4"};
  CHECK(identity(sizes) != base);
  winograd.kernel.winograd = false;
  CHECK(identity(winograd) != base);
  write("Relu", 5);
  CHECK(identity(one) != base);
  write("Tanh", 4);
  CHECK(identity(one) != base);
  write("Relu", 4);
  CHECK(identity(one) == base);
}

TEST_CASE("a network that changes while it is read has no identity") {
  const Folder folder;
  ModelBytes model;
  model.input("x", {4}).output("y").node("Relu", {"x"}, {"y"}, {}, "only");
  CHECK_FALSE(maybe_identity(file(folder.file("net.onnx", model.text()))).has_value());
}

TEST_CASE("a module that is compiled already is identified by its bytes, and an object of ferry by its code") {
  const Folder folder;
  const Case one = text();
  const Target target = own_compiler()->resolve_target(one.target).value;
  const auto save = [&](const Case& kernel, const std::string& name) {
    const CompiledModule module =
        compile_kernel(read_kernel(own_compiler(), kernel.kernel), kernel.function, target, kernel.call).module;
    return folder.file(name, {module.bytes().begin(), module.bytes().end()});
  };
  Case half = one;
  half.function = "half";
  const Hash twice = identity(file(save(one, "a.ferry")));
  CHECK(identity(file(save(one, "b.ferry"))) == twice);
  CHECK(identity(file(save(half, "c.ferry"))) != twice);
}

TEST_CASE("the code of kernels with other texts may be the same") {
  const auto code = [](const std::string& expression) {
    Case one = text();
    one.kernel.expression = expression;
    const CompiledModule module =
        compile_kernel(read_kernel(own_compiler(), one.kernel), one.function,
                       own_compiler()->resolve_target(one.target).value, one.call, {}, CodeForm::relinkable)
            .module;
    return own_compiler()->code_identity(module.bytes());
  };
  const std::string twice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";
  CHECK(code(twice) == code("# doubles\n" + twice));
  CHECK(code(twice) != code("def twice(float(N) A) -> (B) { B(i) = 3 * A(i) }"));
}

TEST_CASE("what an identity takes to compile comes with it as the module that compilation makes") {
  const Folder folder;
  folder.file("scale.h", "#define SCALE 2\n");
  const Case one = file(folder.file("f.c", kScaled));
  const std::optional<SourceIdentity> found = maybe_identity(one);
  REQUIRE(found.has_value());
  REQUIRE(found->module.has_value());
  const CompiledKernel compiled =
      compile_kernel(read_kernel(own_compiler(), one.kernel), one.function,
                     own_compiler()->resolve_target(one.target).value, one.call, {}, CodeForm::relinkable);
  CHECK(found->module->bytes() == compiled.module.bytes());
  CHECK_FALSE(maybe_identity(text())->module.has_value());
}

TEST_CASE("a schedule that tuning has found for the call counts as a change, and one for other calls does not") {
  const Case one = text();
  KernelSource source = read_kernel(own_compiler(), one.kernel);
  const Target target = own_compiler()->resolve_target(one.target).value;
  const auto hash = [&] { return source_identity(source, one.function, target, one.call)->hash; };
  CHECK(hash() == identity(one));
  source.tuned = std::make_shared<const OtherPoint>(*own_compiler(), TunedFor::fixed_sizes);
  const Hash fixed = hash();
  CHECK(fixed != identity(one));
  source.tuned = std::make_shared<const OtherPoint>(*own_compiler(), TunedFor::any_sizes);
  CHECK(hash() != identity(one));
  CHECK(hash() != fixed);
  KernelSource already_fixed = with_fixed_sizes(source, {{"N", 100}});
  CHECK(source_identity(already_fixed, "twice", target, {})->hash ==
        source_identity(with_fixed_sizes(read_kernel(own_compiler(), one.kernel), {{"N", 100}}), "twice", target, {})
            ->hash);
}
