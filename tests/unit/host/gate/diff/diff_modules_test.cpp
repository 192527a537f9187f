// Tests on modules as this compiler makes them.
#include "host/gate/diff/diff_modules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/lines.h"
#include "crosscompile/link/temporary_folder.h"
#include "ferry/error.h"
#include "ferry/lang/text.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "host/kernel/hot_code.h"
#include "module/module_file.h"

using namespace ferry;
using namespace ferry::gate;

namespace {

constexpr const char* kTargets[] = {"x86-64", "armv7", "aarch64", "riscv64"};
const std::string kSum = "def sum(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }\n";
const std::string kProduct = "def sum(float(N) A, float(N) B) -> (C) { C(i) = A(i) * B(i) }\n";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Fixture {
  std::unique_ptr<const Compiler> compiler = make_compiler();

  Bytes module(const std::string& text, const std::string& schedule, const std::string& target) const {
    const std::vector<lang::Program> programs = lang::parse(text, "k.tc");
    const Target resolved = compiler->resolve_target(target).value;
    return compiler->compile({{programs, ScheduleText{schedule}}, resolved, text}).module;
  }

  Bytes foreign(const std::string& text, const std::string& target) const {
    const link::TemporaryFolder folder;
    std::ofstream(folder.file("k.c")) << text;
    return compiler->compile(ForeignSource{folder.file("k.c"), {"scale(in f32[n] x, out f32[n] y)"}, {}, text},
                             compiler->resolve_target(target).value, CodeForm::linked);
  }

  std::vector<MachineFunction> code(const Bytes& module, const std::string& target) const {
    const auto file = read_module(module);
    REQUIRE(file.is_ok());
    return compiler->disassemble(file.value().images.front().bytes, compiler->resolve_target(target).value);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a module has no difference to itself, and code that only moved is the same") {
  const std::string first = "def first(float(N) A) -> (B) { B(i) = A(i) * A(i) + 3 }\n";
  for (const std::string target : kTargets) {
    CAPTURE(target);
    const Bytes one = module(kSum, "split i 4\nvectorize i.inner", target);
    const Bytes moved = module(first + kSum, "def sum\nC: split i 4\nC: vectorize i.inner", target);
    CHECK(diff_modules(*compiler, one, one).value.is_empty());
    const auto sum_in = [&](const Bytes& bytes) {
      const std::vector<MachineFunction> functions = code(bytes, target);
      const auto sum = std::ranges::find(functions, "ferry_fn_sum", &MachineFunction::name);
      REQUIRE(sum != functions.end());
      return *sum;
    };
    CHECK(sum_in(one).instructions.size() > 10);
    CHECK(code_text(std::vector{sum_in(one)}) == code_text(std::vector{sum_in(moved)}));
    const ModuleDiff diff = diff_modules(*compiler, one, moved).value;
    CAPTURE(diff.assembly);
    CHECK(contains(diff.assembly, "\n+ferry_fn_first.parallel: a loop of "));
    CHECK_FALSE(contains(diff.assembly, "-  "));
  }
}

TEST_CASE_FIXTURE(Fixture, "another schedule changes the schedule, the loops and the hot assembly") {
  for (const std::string target : kTargets) {
    CAPTURE(target);
    const Noted<ModuleDiff> diff = diff_modules(*compiler, module(kSum, "split i 4\nvectorize i.inner", target),
                                                module(kSum, "split i 2\nunroll i.inner", target));
    CHECK(diff.notes.empty());
    CHECK(diff.value.source == "");
    CHECK(contains(diff.value.schedule, "\n-C: vectorize i.inner\n"));
    CHECK(contains(diff.value.loops, "\n-"));
    CHECK(contains(diff.value.loops, "vectorized"));
    CHECK(contains(diff.value.assembly, "--- baseline\n+++ current\n"));
    CHECK(contains(diff.value.assembly, "sum: a loop of "));
    CHECK(contains(diff.value.assembly, " L1\n"));
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "another definition under the same schedule changes the source, the loops and the assembly") {
  const ModuleDiff diff = diff_modules(*compiler, module(kSum, "split i 2\nunroll i.inner", "x86-64"),
                                       module(kProduct, "split i 2\nunroll i.inner", "x86-64"))
                              .value;
  CHECK(contains(diff.source, "A(i) + B(i)"));
  CHECK(contains(diff.source, "A(i) * B(i)"));
  CHECK(diff.schedule == "");
  CHECK(contains(diff.loops, " * "));
  CHECK(contains(diff.assembly, "addss"));
  CHECK(contains(diff.assembly, "mulss"));
}

TEST_CASE_FIXTURE(Fixture, "a C function has a source and assembly") {
  const std::string twice =
      "#include <stdint.h>\nvoid scale(const float* x, float* y, int64_t n) {\n"
      "  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
  std::string slower = twice;
  slower.replace(slower.find("2 * x[i]"), 8, "x[i] / 3");
  for (const std::string target : kTargets) {
    CAPTURE(target);
    const Noted<ModuleDiff> diff = diff_modules(*compiler, foreign(twice, target), foreign(slower, target));
    CHECK(diff.notes.empty());
    CHECK(contains(diff.value.source, "\n-  for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n"));
    CHECK(diff.value.schedule == "");
    CHECK(diff.value.loops == "");
    CHECK(contains(diff.value.assembly, "a loop of "));
    CHECK(contains(diff.value.assembly, "div"));
  }
}

TEST_CASE_FIXTURE(Fixture, "code for GPUs is compared as the text that the module carries") {
  const std::string schedule = "split i 64\nbind i.outer blockIdx.x\nbind i.inner threadIdx.x";
  const ModuleDiff diff =
      diff_modules(*compiler, module(kSum, schedule, "opencl"), module(kProduct, schedule, "opencl")).value;
  CHECK(contains(diff.assembly, "+++ current\n"));
  CHECK(contains(diff.assembly, " * "));
}

TEST_CASE_FIXTURE(Fixture, "a long diff is cut and says how much is left out") {
  std::string many[2];
  for (int i = 0; i < 150; ++i) {
    const std::string name = "def f" + std::to_string(i) + "(float(N) A) -> (B) { B(i) = A(i) ";
    many[0] += name + "+ 1 }\n";
    many[1] += name + "+ 2 }\n";
  }
  const ModuleDiff diff = diff_modules(*compiler, module(many[0], "", "x86-64"), module(many[1], "", "x86-64")).value;
  const std::vector<std::string_view> lines = lines_of(diff.source);
  REQUIRE(lines.size() == kMostDiffLines + 1);
  CHECK(lines.back() == "... and 103 more lines");
}

TEST_CASE_FIXTURE(Fixture, "a source that the compiler refuses leaves out the loops and says why") {
  const Bytes good = module(kSum, "split i 2\nunroll i.inner", "x86-64");
  ModuleFile file = read_module(good).value();
  file.source = "def sum(float(N) A, float(N) B) -> (C) { C(i) = }\n";
  const Noted<ModuleDiff> diff = diff_modules(*compiler, good, write_module(file));
  CHECK(diff.value.loops == "");
  CHECK(diff.value.source != "");
  REQUIRE(diff.notes.size() == 1);
  CHECK(contains(diff.notes.front(), "the loops of the current cannot be shown: "));
}

TEST_CASE_FIXTURE(Fixture, "bytes that are no module are refused, and damaged code is shown as far as it can be read") {
  const Bytes good = module(kSum, "split i 2\nunroll i.inner", "x86-64");
  CHECK_THROWS_AS(diff_modules(*compiler, good, Bytes{1, 2, 3}), Error);
  for (std::size_t at = 0; at < 400; at += 3) {
    ModuleFile file = read_module(good).value();
    std::vector<std::uint8_t>& image = file.images.front().bytes;
    image[at % image.size()] ^= 0x5a;
    CHECK_NOTHROW(diff_modules(*compiler, good, write_module(file)));
  }
  for (const std::size_t size : {0UL, 1UL, 63UL, 64UL, 200UL, 1000UL}) {
    ModuleFile file = read_module(good).value();
    file.images.front().bytes.resize(std::min(size, file.images.front().bytes.size()));
    CHECK_NOTHROW(diff_modules(*compiler, good, write_module(file)));
  }
}
