// Kernels of other compilers, refused in words where they cannot work.
#include "crosscompile/foreign/foreign.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/resolve.h"

namespace ferry::foreign {
namespace {

struct Fixture {
  link::TemporaryFolder folder;
  Target target = resolve_target("x86-64");

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  }
  std::vector<std::uint8_t> compile(const std::string& path, const std::string& signature, const Target& on,
                                    std::vector<std::string> flags = {}) const {
    return compile_foreign({path, parse_signature(signature), std::move(flags), ""}, on);
  }
  std::string refusal(const std::string& path, const std::string& signature) const {
    try {
      compile(path, signature, target);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  // An object of a C text.
  std::string object(const std::string& text, const Target& on) const {
    const std::vector<std::uint8_t> bytes = compile_object(file("object.c", text), {}, on);
    std::ofstream(folder.file("object.o"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return folder.file("object.o");
  }
};

TEST_CASE_FIXTURE(Fixture, "C, C++ and objects compile for every architecture, with <math.h> and <stdint.h>") {
  const std::string c =
      file("f.c",
           "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
           "void f(const float* x, float* y, int64_t n) {\n"
           "  for (int64_t i = 0; i < n; ++i) y[i] = expf(x[i]) + powf(x[i], 2);\n  memset(y, 0, 4);\n}\n");
  const std::string cpp = file("f.cpp",
                               "#include <math.h>\n#include <stdint.h>\n"
                               "extern \"C\" void f(const float* x, float* y, int64_t n) {\n"
                               "  auto twice = [](auto v) { return sin(v) * 2; };\n"
                               "  for (int64_t i = 0; i < n; ++i) y[i] = twice(x[i]);\n}\n");
  const std::string signature = "f(in f32[n] x, out f32[n] y)";
  for (const char* name : {"x86-64", "armv7", "aarch64", "riscv64"}) {
    CAPTURE(name);
    const Target on = resolve_target(name);
    CHECK(compile(c, signature, on).size() > 500);
    CHECK(compile(cpp, signature, on).size() > 500);
    CHECK(compile(object("void f(const float* x, float* y, long long n) { y[n - 1] = x[0]; }", on), signature, on)
              .size() > 500);
  }
}

TEST_CASE_FIXTURE(Fixture, "LLVM IR compiles, and flags reach the compiler") {
  const std::string ir = file("f.ll", "define void @f(ptr %x, i64 %n) {\n  store float 1.0, ptr %x\n  ret void\n}\n");
  CHECK(compile(ir, "f(inout f32[n] x)", target).size() > 500);
  const std::string c = file("g.c", "void g(float* x) { x[0] = VALUE; }");
  CHECK(compile(c, "g(inout f32[1] x)", target, {"-DVALUE=3"}).size() > 500);
  CHECK(refusal(c, "g(inout f32[1] x)").find("use of undeclared identifier 'VALUE'") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a function that is not there is answered with the nearest") {
  const std::string c = file("f.c", "void saxpy(void) {}\nvoid daxpy(void) {}\nstatic void hidden(void) {}");
  CHECK(refusal(c, "saxpi()") == c + ": expected a function 'saxpi', got saxpy, daxpy");
  const std::string cpp = file("f.cpp", "void saxpy() {}");
  CHECK(refusal(cpp, "saxpy()").find("extern \"C\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a shared object travels as it is, and one that devices cannot search is refused") {
  const std::string c = file("s.c", "void f(float* x) { x[0] = 1; }");
  const auto linked = [&](const std::string& style) {
    const std::string so = folder.file("s.so");
    const std::string command =
        "clang-19 -O1 -fPIC -shared -nostdlib -fuse-ld=lld-19 -Wl,--hash-style=" + style + " -o " + so + " " + c;
    REQUIRE(std::system(command.c_str()) == 0);
    return so;
  };
  CHECK(compile(linked("both"), "f(inout f32[1] x)", target).size() > 2000);
  CHECK(refusal(linked("gnu"), "f(inout f32[1] x)").ends_with("link it with --hash-style=both"));
}

TEST_CASE_FIXTURE(Fixture, "what devices do not offer or load is refused by name") {
  const auto about = [&](const std::string& text) { return refusal(file("f.c", text), "f()"); };
  CHECK(about("int puts(const char*); int printf(const char*, ...); void f(void) { puts(\"x\"); printf(\"%d\", 1); }")
            .find("calls what devices do not offer on x86_64: ") != std::string::npos);
  CHECK(about("_Thread_local int x; void f(void) { x = 1; }").find("thread-local storage (.tbss)") !=
        std::string::npos);
  CHECK(about("volatile int x; __attribute__((constructor)) void g(void) { x = 1; } void f(void) {}")
            .find("constructors or destructors (.init_array") != std::string::npos);
  CHECK(about("int g(void) { return 1; } void* r(void) { return g; } int h(void) __attribute__((ifunc(\"r\"))); void "
              "f(void) { h(); }")
            .find("a function chosen at load time (h)") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "an object for another architecture, a file that is none and a missing compiler are told apart") {
  CHECK(refusal(object("void f(void) {}", resolve_target("aarch64")), "f()")
            .ends_with("expected an object for x86_64, got one for aarch64"));
  CHECK(refusal(file("x.o", "no object"), "f()").find("expected an ELF object") != std::string::npos);
  CHECK(refusal(folder.file("none.c"), "f()").find("cannot read '") == 0);
  setenv("FERRY_CLANG", "/nonexistent/clang", 1);
  const std::string message = refusal(file("f.c", "void f(void) {}"), "f()");
  unsetenv("FERRY_CLANG");
  CHECK(message.find("expected the program /nonexistent/clang to compile") == 0);
  CHECK(message.find("apt install clang-19") != std::string::npos);
}

}  // namespace
}  // namespace ferry::foreign
