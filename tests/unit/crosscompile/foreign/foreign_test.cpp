// Tests of kernels from other compilers, and of the messages for those that cannot work.
#include "crosscompile/foreign/foreign.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/landlock.h"
#include "crosscompile/confine/run_confined.h"
#include "tests/unit/crosscompile/foreign/foreign_fixture.h"

namespace ferry::foreign {
namespace {

TEST_CASE_FIXTURE(test::ForeignFixture,
                  "C, C++ and objects compile for every architecture, with <math.h> and <stdint.h>") {
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

TEST_CASE_FIXTURE(test::ForeignFixture, "LLVM IR compiles, and flags reach the compiler") {
  const std::string ir = file("f.ll", "define void @f(ptr %x, i64 %n) {\n  store float 1.0, ptr %x\n  ret void\n}\n");
  CHECK(compile(ir, "f(inout f32[n] x)", target).size() > 500);
  const std::string c = file("g.c", "void g(float* x) { x[0] = VALUE; }");
  CHECK(compile(c, "g(inout f32[1] x)", target, {"-DVALUE=3"}).size() > 500);
  CHECK(refusal(c, "g(inout f32[1] x)").find("use of undeclared identifier 'VALUE'") != std::string::npos);
}

TEST_CASE_FIXTURE(test::ForeignFixture, "a function that is not there is answered with the nearest") {
  const std::string c = file("f.c", "void saxpy(void) {}\nvoid daxpy(void) {}\nstatic void hidden(void) {}");
  CHECK(refusal(c, "saxpi()") == c + ": expected a function 'saxpi', got saxpy, daxpy");
  const std::string cpp = file("f.cpp", "void saxpy() {}\nvoid daxpy() {}");
  CHECK(refusal(cpp, "saxpy()").find("extern \"C\"") != std::string::npos);
}

TEST_CASE_FIXTURE(test::ForeignFixture, "the only function of a file is taken whatever it is called, in C++ too") {
  CHECK(compile(file("f.c", "static void helper(void) {}\nvoid matmul(void) { helper(); }"), "mm()", target).size() >
        500);
  CHECK(compile(file("f.cpp", "namespace linear { void saxpy(float* x) { x[0] = 1; } }"), "f(inout f32[1] x)", target)
            .size() > 500);
}

TEST_CASE_FIXTURE(test::ForeignFixture, "several functions of a file go into one module, on every architecture") {
  const std::string c =
      file("f.c", "void one(float* x) { x[0] = 1; }\nvoid two(float* x, long long n) { x[n - 1] = 2; }\n");
  for (const char* name : {"x86-64", "armv7", "aarch64", "riscv64"}) {
    CAPTURE(name);
    const ForeignKernel kernel{
        c, {parse_signature("one(inout f32[1] x)"), parse_signature("two(inout f32[n] x)")}, {}, ""};
    CHECK(compile_foreign(kernel, resolve_target(name)).size() > 500);
  }
}

TEST_CASE_FIXTURE(test::ForeignFixture,
                  "C++ kernels have <cstdint>, <cmath>, <cstring> and <algorithm>, and are told what else there is") {
  const std::string cpp =
      file("f.cpp",
           "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n"
           "void f(const float* x, float* y, std::int64_t n) {\n"
           "  std::memset(y, 0, static_cast<std::size_t>(n) * sizeof *y);\n"
           "  std::fill(y, y + n, 1.0f);\n"
           "  for (std::int64_t i = 0; i < n; ++i) {\n"
           "    y[i] = std::max(std::exp(x[i]), std::pow(x[i], 2)) > 3 ? std::abs(x[i]) : std::sqrt(4);\n"
           "    if (std::isnan(y[i]) || !std::isfinite(y[i])) y[i] = std::fmax(y[i], std::fabs(-2.0f));\n"
           "    y[i] = std::clamp(y[i], 0.0f, 1.0f);\n  }\n}\n");
  CHECK(refusal(cpp, "f(in f32[n] x, out f32[n] y)").find("std::max") != std::string::npos);
  const std::string right =
      file("g.cpp",
           "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n"
           "void f(const float* x, float* y, std::int64_t n) {\n"
           "  std::memset(y, 0, static_cast<std::size_t>(n) * sizeof *y);\n"
           "  std::fill(y, y + n, 1.0f);\n"
           "  for (std::int64_t i = 0; i < n; ++i) {\n"
           "    y[i] = std::max(std::exp(x[i]), 1.0f) > 3 ? std::abs(x[i]) : std::sqrt(4);\n"
           "    if (std::isnan(y[i]) || !std::isfinite(y[i])) y[i] = std::fmax(y[i], std::fabs(-2.0f));\n"
           "    y[i] = std::clamp(y[i], 0.0f, 1.0f) + std::pow(2, 0.5f);\n  }\n}\n");
  for (const char* name : {"x86-64", "armv7", "aarch64", "riscv64"})
    CHECK(compile(right, "f(in f32[n] x, out f32[n] y)", resolve_target(name)).size() > 500);
  const std::string vector = file("v.cpp", "#include <vector>\nvoid f(float* y) { y[0] = 1; }\n");
  CHECK(refusal(vector, "f(inout f32[1] y)").find("kernels are compiled without a C or C++ library") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(test::ForeignFixture,
                  "a shared object travels as it is, and one that devices cannot search is refused") {
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

TEST_CASE_FIXTURE(test::ForeignFixture, "what devices do not offer or load is refused by name") {
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

TEST_CASE_FIXTURE(test::ForeignFixture,
                  "an object for another architecture, a file that is none and a missing compiler are told apart") {
  CHECK(refusal(object("void f(void) {}", resolve_target("aarch64")), "f()")
            .ends_with("expected an object for x86_64, got one for aarch64"));
  CHECK(refusal(file("x.o", "no object"), "f()").find("expected an ELF object") != std::string::npos);
  CHECK(refusal(folder.file("none.c"), "f()").find("cannot read '") == 0);
  setenv("FERRY_CLANG", "/nonexistent/clang", 1);
  const std::string message = refusal(file("f.c", "void f(void) {}"), "f()");
  unsetenv("FERRY_CLANG");
  CHECK(message.find("expected the program /nonexistent/clang to compile") == 0);
  CHECK(message.find("install clang 14 or newer (Debian: apt install clang)") != std::string::npos);
}

// Leaves other programs alone in the search path of this process.
class SearchPath {
 public:
  explicit SearchPath(const std::string& folder) { setenv("PATH", folder.c_str(), 1); }
  SearchPath(const SearchPath&) = delete;
  SearchPath& operator=(const SearchPath&) = delete;
  ~SearchPath() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_ = std::getenv("PATH");
};

TEST_CASE_FIXTURE(test::ForeignFixture, "an older clang is taken where there is none of ferry's own version") {
  const link::TemporaryFolder programs;
  std::filesystem::create_symlink(confine::find_program("clang-19"), programs.file("clang-16"));
  const SearchPath path(std::filesystem::path(programs.file("")).parent_path());
  CHECK(compile_object(file("f.c", "void f(void) {}"), {}, resolve_target("x86-64")).size() > 64);
  CHECK(refusal(file("g.c", "void g(void) {"), "g()").find("clang-16 refuses ") == 0);
}

TEST_CASE_FIXTURE(test::ForeignFixture, "a clang that does not know the processor is said to be too old for it") {
  Target unknown = resolve_target("x86-64");
  unknown.cpu = "znver99";
  std::string message;
  try {
    compile_object(file("f.c", "void f(void) {}"), {}, unknown);
  } catch (const CompileError& error) {
    message = error.what();
  }
  CHECK_MESSAGE(message.find("is older than this processor: install a newer one") != std::string::npos, message);
}

// A file of the user who compiles what somebody else wrote, in a folder beside the kernel's.
struct Stranger : test::ForeignFixture {
  link::TemporaryFolder home;
  std::string secret = home.file("secret");
  Stranger() { std::ofstream(secret) << "#define SECRET 42\nsecret words of the user\n"; }
  // The message, and the module if there is one.
  std::string about(const std::string& name, const std::string& text, std::vector<std::string> flags = {}) const {
    try {
      const std::vector<std::uint8_t> module = compile(file(name, text), "f(inout f32[1] x)", target, std::move(flags));
      return {module.begin(), module.end()};
    } catch (const CompileError& error) {
      return error.what();
    }
  }
};

TEST_CASE_FIXTURE(Stranger, "a kernel brings no file from outside of its folder into a module or a message") {
  REQUIRE_MESSAGE(landlock::version() > 0, "this kernel has no Landlock");
  const std::string begin = "void f(float* x) { x[0] = 1; }\n";
  const std::string takes = ".section .rodata\n.globl f\nf: .incbin \"";
  std::filesystem::create_symlink(secret, folder.file("link"));
  const std::string all[] = {
      about("a.c", begin + "#include \"" + secret + "\"\n"),
      about("b.c", "const unsigned char b[] = {\n#embed \"" + secret + "\"\n};\n" + begin),
      about("c.c", begin + "__asm__(\".incbin \\\"" + secret + "\\\"\");\n"),
      about("d.s", takes + secret + "\"\n"),
      about("e.ll", "module asm \".incbin \\22" + secret + "\\22\"\ndefine void @f(ptr %x) { ret void }\n"),
      about("f.c", begin + "#include \"link\"\n"),
      about("g.c", begin + "#include \"/proc/self/environ\"\n"),
      about("h.s", takes + "/etc/passwd\"\n"),
      about("i.cpp", begin + "#include \"/etc/passwd\"\n"),
      about("j.s", ".include \"" + secret + "\"\n"),
      about("k.c", "#pragma clang system_header\n#include_next \"" + secret + "\"\n" + begin),
  };
  for (const std::string& said : all) {
    CAPTURE(said);
    CHECK(said.find("secret words") == std::string::npos);
    CHECK(said.find("PATH=") == std::string::npos);
    CHECK(said.find("root:") == std::string::npos);
    // Each is a message that says so.
    CHECK(said.find(" refuses ") != std::string::npos);
  }
  // What the file's folder has, and what the user names, is read.
  file("own.h", "#define SECRET 7\n");
  CHECK(about("l.c", "#include \"own.h\"\nint y = SECRET;\n" + begin).find(" refuses ") == std::string::npos);
  std::ofstream(home.file("mine.h")) << "#define SECRET 7\n";
  const std::string folder_of_user = home.file("");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-I" + folder_of_user}, {"-I", folder_of_user}, {"-isystem", folder_of_user}}) {
    CAPTURE(flags[0]);
    CHECK(about("m.c", "#include <mine.h>\nint y = SECRET;\n" + begin, flags).find(" refuses ") == std::string::npos);
  }
  CHECK(about("n.c", "int y = SECRET;\n" + begin, {"-include", home.file("mine.h")}).find(" refuses ") ==
        std::string::npos);
}

TEST_CASE_FIXTURE(Stranger,
                  "a kernel in the home folder reads the files beside it, but no hidden ones and no folders") {
  REQUIRE_MESSAGE(landlock::version() > 0, "this kernel has no Landlock");
  const std::string before = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  setenv("HOME", folder.file("").c_str(), 1);
  std::filesystem::create_directory(folder.file(".ssh"));
  file(".ssh/key", "secret words\n");
  file(".token", "secret words\n");
  file("own.h", "#define VALUE 7\n");
  const std::string begin = "void f(float* x) { x[0] = 1; }\n";
  CHECK(about("a.c", "#include \"own.h\"\nint y = VALUE;\n" + begin).find(" refuses ") == std::string::npos);
  CHECK(about("b.c", begin + "#include \".ssh/key\"\n").find("secret words") == std::string::npos);
  CHECK(about("c.s", ".globl f\nf: .incbin \"" + folder.file(".token") + "\"\n").find("secret words") ==
        std::string::npos);
  setenv("HOME", before.c_str(), 1);
}

TEST_CASE_FIXTURE(Stranger, "an object names no library of this machine to link") {
  const std::string library = home.file("libsecret.a");
  std::ofstream(library) << "no library";
  CHECK(about("a.c", "#pragma comment(lib, \"" + library + "\")\nvoid f(float* x) { x[0] = 1; }\n").find("secret") ==
        std::string::npos);
}

TEST_CASE_FIXTURE(test::ForeignFixture, "clang's message cannot control a terminal") {
  const std::string said = refusal(file("f.c", "#error \x1b]0;mine\x07\nvoid f(void) {}\n"), "f()");
  CHECK(said.find("#error") != std::string::npos);
  CHECK(said.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace ferry::foreign
