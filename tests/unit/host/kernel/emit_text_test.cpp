// Tests of compiling all functions of a text, and of showing stages on the way.
#include "host/kernel/emit_text.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "ferry/kernel/option_error.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kTwo =
    "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n"
    "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";

KernelSource two(const std::string& schedule = {}) {
  KernelOptions options;
  options.expression = kTwo;
  options.schedule.file = schedule;
  return read_kernel(test::own_compiler(), options);
}

Target target_named(const std::string& text) { return test::own_compiler()->resolve_target(text).value; }

std::string shown(Stage stage, const std::string& target, const TextRequest& request = {}) {
  return emit_text(two(), request, stage, target_named(target)).text;
}

Option faulty(const KernelSource& source, const TextRequest& request, Stage stage, const std::string& target) {
  try {
    (void)emit_text(source, request, stage, target_named(target));
  } catch (const OptionError& error) {
    return error.option();
  }
  return Option::kernel;
}

}  // namespace

TEST_CASE("every stage has a name, by which it is found") {
  const std::vector<std::string> names = stage_names();
  CHECK(names.size() == 14);
  for (const std::string& name : names) CHECK(stage_name(stage_named(name).value()) == name);
  CHECK(stage_named("lower") == Stage::loops);
  CHECK_FALSE(stage_named("spirv"));
  CHECK(target_of_stage(Stage::ptx) == "cuda");
  CHECK(target_of_stage(Stage::assembly).empty());
}

TEST_CASE("all functions are compiled and shown, or the one that is named") {
  const CompiledModule both = compile_text(two(), {}, target_named("aarch64"));
  REQUIRE(both.manifest().functions.size() == 2);
  CHECK(compile_text(two(), {.function = "mm"}, target_named("aarch64")).manifest().functions.at(0).name == "mm");
  const std::string loops = shown(Stage::loops, "aarch64");
  CHECK(loops.find("twice(") != std::string::npos);
  CHECK(loops.find("mm(") != std::string::npos);
  CHECK(shown(Stage::loops, "aarch64", {.function = "mm"}).find("twice(") == std::string::npos);
  CHECK(shown(Stage::opencl, "opencl").find("__kernel") != std::string::npos);
  CHECK(shown(Stage::llvm, "riscv64").find("define") != std::string::npos);
}

TEST_CASE("sizes choose default schedules, and must be sizes of the kernel") {
  const std::string small = shown(Stage::schedule, "x86-64-v3", {"mm", {"M=2,N=2,K=2"}});
  const std::string large = shown(Stage::schedule, "x86-64-v3", {"mm", {"M=1024,N=1024,K=1024"}});
  CHECK(small != large);
  CHECK(faulty(two(), {"mm", {"Q=2"}}, Stage::loops, "x86-64-v3") == Option::size);
  CHECK_THROWS_WITH_AS((void)compile_text(two(), {"mm", {"Q=2"}}, target_named("x86-64-v3")),
                       "Q: expected a size of the kernel: M, K, N", OptionError);
}

TEST_CASE("a stage that does not exist for the target or the kernel is refused as a stage") {
  CHECK(faulty(two(), {}, Stage::assembly, "c") == Option::stage);
  CHECK(faulty(two(), {}, Stage::object, "opencl") == Option::stage);
  CHECK(faulty(two("none"), {}, Stage::space, "aarch64") == Option::stage);
  const test::Folder folder;
  KernelOptions in_c;
  in_c.file =
      folder.file("f.c", "// ferry: f(in f32[n] x, out f32[n] y)\nvoid f(const float* x, float* y, long n) {}\n");
  const KernelSource source = read_kernel(test::own_compiler(), in_c);
  CHECK(faulty(source, {}, Stage::loops, "aarch64") == Option::stage);
  CHECK_THROWS_AS((void)compile_text(source, {"", {"n=4"}}, target_named("aarch64")), OptionError);
}
