// Tests of reading what a user named: which of the front ends takes it, and what is refused.
#include "host/kernel/kernel.h"

#include <doctest/doctest.h>

#include "crosscompile/compile.h"
#include "ferry/error.h"
#include "ferry/kernel/option_error.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "host/lower/lower.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kTwo =
    "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n"
    "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";
const std::string kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }\n";
const std::string kSaxpy =
    "#include <stdint.h>\n"
    "// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] y)\n"
    "void saxpy(float a, const float* x, float* y, int64_t n) {\n"
    "  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];\n"
    "}\n";

KernelOptions expression(const std::string& text) {
  KernelOptions options;
  options.expression = text;
  return options;
}

KernelOptions named(const std::string& file) {
  KernelOptions options;
  options.file = file;
  return options;
}

std::string module_text(const CompiledModule& module) { return {module.bytes().begin(), module.bytes().end()}; }

}  // namespace

TEST_CASE("a text is read with all its functions, of which one is chosen by name") {
  const KernelSource source = read_kernel(test::own_compiler(), expression(kTwo));
  CHECK(source.name == "kernel.tc");
  CHECK(source.as_text()->programs.size() == 2);
  CHECK(has_definition(source));
  CHECK_FALSE(may_leave_tensors(source));
  CHECK(choose_program(source, "mm").name == "mm");
  CHECK(signature_of(source, "twice") == "twice(in f32[N] A, out f32[N] B)");
  CHECK_THROWS_WITH_AS((void)choose_program(source, ""), "kernel.tc has several functions; expected one of: twice, mm",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)choose_program(source, "xx"), "kernel.tc has no function 'xx'; expected one of: twice, mm",
                       UsageError);
}

TEST_CASE("one kernel must be named, and its file must exist") {
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), {}), "expected a kernel: a file, '-' for stdin, or a text",
                       UsageError);
  KernelOptions both = expression(kTwo);
  both.file = "mm.tc";
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), both), "expected one kernel, got a text and the file 'mm.tc'",
                       UsageError);
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), named("/nowhere/mm.tc")),
                       "cannot read '/nowhere/mm.tc': No such file or directory", UsageError);
}

TEST_CASE("a misspelt 'default' or 'none' is no file") {
  KernelOptions options = expression(kTwice);
  options.schedule.file = "defalt";
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), options), "there is no file 'defalt'; did you mean 'default'?",
                       OptionError);
  options.schedule.file = "mm.schedule";
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), options),
                       "cannot read 'mm.schedule': No such file or directory", UsageError);
}

TEST_CASE("a usage error carries the code invalid_argument") {
  try {
    (void)read_kernel(test::own_compiler(), {});
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a text that is no kernel names the file and the line") {
  const test::Folder folder;
  const std::string file = folder.file("bad.tc", "def f(float(N) A) -> (B) {\n  B(i) = }\n");
  CHECK_THROWS_AS(read_kernel(test::own_compiler(), named(file)), CompileError);
  try {
    (void)read_kernel(test::own_compiler(), named(file));
  } catch (const CompileError& error) {
    CHECK(std::string(error.what()).starts_with(file + ":2:"));
  }
}

TEST_CASE("sizes to compile for are taken out of the signature") {
  KernelOptions options = expression(kTwice);
  options.fixed = {"N=8"};
  CHECK(signature_of(read_kernel(test::own_compiler(), options), "") == "twice(in f32[8] A, out f32[8] B)");
  options.fixed = {"N=x"};
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), options),
                       "N=x: expected NAME=SIZE such as M=512, several with commas between", UsageError);
}

TEST_CASE("a module carries its source, so that its definition can be evaluated, with the sizes it was compiled for") {
  const test::Folder folder;
  KernelOptions options = expression(kTwice);
  options.fixed = {"N=8"};
  const KernelSource text = read_kernel(test::own_compiler(), options);
  const std::string file =
      folder.file("twice.ferry", module_text(compile(text.as_text()->programs.front(), target("host"), text.text)));
  const KernelSource source = read_kernel(test::own_compiler(), named(file));
  REQUIRE(source.as_module());
  CHECK(source.text == kTwice);
  CHECK(has_definition(source));
  const lang::Program program = program_of(source, "twice");
  CHECK(program.parameters.front().tensor.shape().front().as<ir::Var>() == nullptr);

  KernelOptions scheduled = named(file);
  scheduled.schedule.text = "parallel i";
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), scheduled),
                       (file + " is compiled already: expected a kernel's text beside a schedule").c_str(), UsageError);
}

TEST_CASE("what calls itself a module but is none is refused with its name") {
  const test::Folder folder;
  const std::string file = folder.file("bad.ferry", "not a module");
  try {
    (void)read_kernel(test::own_compiler(), named(file));
    FAIL("expected a UsageError");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).starts_with(file + ": "));
  }
}

TEST_CASE("a kernel in C takes its signature from the options, from a comment, or from the other kernel") {
  const test::Folder folder;
  const KernelSource source = read_kernel(test::own_compiler(), named(folder.file("saxpy.c", kSaxpy)));
  REQUIRE(source.as_foreign());
  CHECK(signature_of(source, "") == "saxpy(f32 a, in f32[n] x, inout f32[n] y)");
  CHECK_FALSE(has_definition(source));
  CHECK(may_leave_tensors(source));
  CHECK_THROWS_AS((void)choose_program(source, ""), UsageError);

  KernelOptions bare = named(folder.file("bare.c", "void twice(const float* x, float* y, long n);\n"));
  CHECK_THROWS_WITH_AS(
      read_kernel(test::own_compiler(), bare),
      (bare.file + ": expected a comment '// ferry: saxpy(f32 a, in f32[n] x, inout f32[n] y)' in it, or a "
                   "signature of this form beside it")
          .c_str(),
      UsageError);
  CHECK(signature_of(read_kernel(test::own_compiler(), bare, {}, "twice(in f32[n] x, out f32[n] y)"), "") ==
        "twice(in f32[n] x, out f32[n] y)");
  bare.signature = "other(in f32[n] x, out f32[n] y)";
  CHECK(function_of(read_kernel(test::own_compiler(), bare, {}, "twice(in f32[n] x, out f32[n] y)"), "").name ==
        "other");

  bare.schedule.text = "parallel i";
  CHECK_THROWS_WITH_AS(
      read_kernel(test::own_compiler(), bare),
      (bare.file + " is computed as it says: a schedule is for kernels in ferry's own notation").c_str(), UsageError);
}

TEST_CASE("an object that ferry made is a module, with its source") {
  const test::Folder folder;
  const KernelSource text = read_kernel(test::own_compiler(), expression(kTwice));
  const std::vector<std::uint8_t> object =
      compile_object(std::vector<ir::Function>{lower::lower(text.as_text()->programs.front(),
                                                            schedule::Schedule(text.as_text()->programs.front()))},
                     target("host"), {text.text, "twice:"});
  const KernelSource source =
      read_kernel(test::own_compiler(), named(folder.file("twice.o", {object.begin(), object.end()})));
  REQUIRE(source.as_module());
  CHECK(source.text == kTwice);
}

TEST_CASE("a schedule is read from a file or a text, with knobs of its own") {
  const test::Folder folder;
  KernelOptions options = expression(kTwice);
  options.schedule.file = folder.file("twice.schedule", "split i $rows\n");
  options.schedule.knobs = {"$rows=8"};
  const KernelSource source = read_kernel(test::own_compiler(), options);
  REQUIRE(source.as_text()->schedule);
  CHECK(source.as_text()->schedule->text == "split i $rows\n");
  CHECK(source.as_text()->schedule->knobs == std::map<std::string, std::string>{{"rows", "8"}});

  options.schedule.text = "parallel i";
  CHECK_THROWS_AS(read_kernel(test::own_compiler(), options), UsageError);
  options.schedule.file = kUnscheduled;
  options.schedule.text.clear();
  CHECK_THROWS_WITH_AS(read_kernel(test::own_compiler(), options),
                       "$rows=8: expected a schedule of your own with this knob", UsageError);
  options.schedule.knobs.clear();
  CHECK(read_kernel(test::own_compiler(), options).as_text()->unscheduled);
}
