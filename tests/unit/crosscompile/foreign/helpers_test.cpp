// Tests of the functions that are linked into kernels because devices do not offer them.
#include "crosscompile/foreign/helpers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "crosscompile/codegen/llvm/target/imports.h"
#include "crosscompile/link/inspect_object.h"
#include "tests/unit/crosscompile/foreign/foreign_fixture.h"

namespace ferry::foreign {
namespace {

TEST_CASE_FIXTURE(test::ForeignFixture, "helpers that compilers call are linked, for every architecture") {
  // Each file of helpers defines what the table says, on one architecture or another.
  for (const HelperFile& helpers : helper_files()) {
    CAPTURE(helpers.name);
    std::vector<std::string> defined;
    for (const char* name : {"x86-64", "armv7", "aarch64", "riscv64"}) {
      const Target on = resolve_target(name);
      const std::vector<std::uint8_t> object = compile_object(file(helpers.name, helpers.text), {"-Wall"}, on);
      for (const std::string& symbol : link::inspect_object(object, helpers.name, on).functions)
        if (std::ranges::count(defined, symbol) == 0) defined.push_back(symbol);
      for (const std::string& symbol : link::inspect_object(object, helpers.name, on).undefined)
        CHECK_MESSAGE(codegen::is_offered(symbol, on.arch_name), symbol);
    }
    std::vector<std::string> listed = helpers.symbols;
    std::ranges::sort(listed);
    std::ranges::sort(defined);
    CHECK(listed == defined);
  }
  const std::string signature = "f(inout f32[1] x)";
  const auto compiles = [&](const std::string& text, const Target& on) {
    return compile(file("f.c", "#include <math.h>\n#include <string.h>\n" + text), signature, on).size() > 500;
  };
  for (const char* name : {"x86-64", "x86-64-v4", "armv7", "aarch64", "riscv64"}) {
    CAPTURE(name);
    const Target on = resolve_target(name);
    CHECK(compiles("void f(float* x) { _Float16 h = (_Float16)x[0]; x[0] = (float)((double)h / 3); }", on));
    CHECK(compiles(
        "void f(float* x) { _Atomic int n = 0; int m = 1; n += 1; __sync_fetch_and_or(&m, 2); x[0] = n + m; }", on));
    CHECK(compiles("void f(float* x) { float _Complex z = x[0]; z = z * z / (z + 1); x[0] = __imag__ z; }", on));
    CHECK(compiles("void f(float* x) { x[0] = __builtin_powif(x[0], (int)x[0]) + memcmp(x, x, 4); }", on));
    CHECK(
        compiles("void f(float* x) { int n; x[0] = copysignf(hypotf(x[0], cbrtf(x[0])), -1) + log10f(x[0]) + "
                 "rintf(x[0]) + lrintf(x[0]) + ldexpf(frexpf(x[0], &n), 2) + asinhf(x[0]) + fdimf(x[0], 1); "
                 "if (!isfinite(x[0]) || signbit(x[0]) || !isnormal(x[0])) x[0] = __builtin_fmaxf(x[0], 2); }",
                 on));
    if (on.pointer_bits == 64)
      CHECK(compiles("void f(float* x) { __int128 n = (__int128)x[0]; x[0] = (float)(n * n / (n + 3) % 7); }", on));
  }
  for (const char* name : {"x86-64", "x86-64-v4", "aarch64", "riscv64"})
    CHECK(compiles("void f(float* x) { __bf16 h = (__bf16)x[0]; x[0] = (float)(h * h); }", resolve_target(name)));
  // A function of the kernel's own goes before.
  CHECK(compiles("double cbrt(double x) { return x; } void f(float* x) { x[0] = (float)(cbrt(2) + hypot(x[0], 3)); }",
                 target));
}

TEST_CASE_FIXTURE(test::ForeignFixture, "what no helper computes is refused with its line") {
  const auto about = [&](const std::string& name, const std::string& text) {
    try {
      compile(file("f.c", text), "f(inout f64[1] x)", resolve_target(name));
    } catch (const CompileError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was refused");
  };
  const std::string c = folder.file("f.c");
  const std::string quad = "void f(double* x) {\n  x[0] = (double)((long double)x[0] / 3 + 1);\n}\n";
  CHECK(about("riscv64", quad).find("__divtf3 (" + c + ":2: 128-bit floats, such as long double)") !=
        std::string::npos);
  CHECK(about("x86-64", quad) == "nothing was refused");
  CHECK(about("x86-64", "int puts(const char*);\nvoid f(double* x) {\n  x[0] = 1;\n  puts(\"x\");\n}\n")
            .find("puts (" + c + ":4)") != std::string::npos);
  CHECK(
      about("armv7", "\nvoid f(double* x) { __bf16 h = (__bf16)x[0];\n  x[0] = (double)(h * h); }\n") ==
      c + ":2 cannot be compiled for armv7: clang cannot compute with __bf16 there; expected uint16_t for memory, and "
          "float for numbers");
}

TEST_CASE_FIXTURE(test::ForeignFixture, "a line is named by its file, wherever the compiler runs") {
  const std::filesystem::path before = std::filesystem::current_path();
  const link::TemporaryFolder beside;
  const std::string path = file("f.c", "int puts(const char*);\nvoid f(double* x) {\n  x[0] = puts(\"x\");\n}\n");
  const auto refused_in = [&](const std::filesystem::path& current, const std::string& name) {
    std::filesystem::current_path(current);
    std::string message = "nothing was refused";
    try {
      compile(name, "f(inout f64[1] x)", target);
    } catch (const CompileError& error) {
      message = error.what();
    }
    std::filesystem::current_path(before);
    return message;
  };
  for (const std::string& current : {std::string("/"), beside.file("")}) {
    CAPTURE(current);
    const std::string message = refused_in(current, path);
    CHECK_MESSAGE(message.find("puts (" + path + ":3)") != std::string::npos, message);
  }
  // In the current folder a name is enough.
  for (const std::string& name : {path, std::string("f.c")}) {
    const std::string message = refused_in(folder.file(""), name);
    CHECK_MESSAGE(message.find("puts (f.c:3)") != std::string::npos, message);
  }
}

}  // namespace
}  // namespace ferry::foreign
