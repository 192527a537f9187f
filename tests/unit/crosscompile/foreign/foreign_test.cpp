// Tests of kernels from other compilers, and of the messages for those that cannot work.
#include "crosscompile/foreign/foreign.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "crosscompile/confine/landlock.h"
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
    return compile_foreign({path, {parse_signature(signature)}, std::move(flags), ""}, on);
  }
  std::string refusal(const std::string& path, const std::string& signature) const {
    try {
      compile(path, signature, target);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  // Compiles a C text to an object file.
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
  const std::string cpp = file("f.cpp", "void saxpy() {}\nvoid daxpy() {}");
  CHECK(refusal(cpp, "saxpy()").find("extern \"C\"") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "the only function of a file is taken whatever it is called, in C++ too") {
  CHECK(compile(file("f.c", "static void helper(void) {}\nvoid matmul(void) { helper(); }"), "mm()", target).size() >
        500);
  CHECK(compile(file("f.cpp", "namespace linear { void saxpy(float* x) { x[0] = 1; } }"), "f(inout f32[1] x)", target)
            .size() > 500);
}

TEST_CASE_FIXTURE(Fixture, "several functions of a file go into one module, on every architecture") {
  const std::string c =
      file("f.c", "void one(float* x) { x[0] = 1; }\nvoid two(float* x, long long n) { x[n - 1] = 2; }\n");
  for (const char* name : {"x86-64", "armv7", "aarch64", "riscv64"}) {
    CAPTURE(name);
    const ForeignKernel kernel{
        c, {parse_signature("one(inout f32[1] x)"), parse_signature("two(inout f32[n] x)")}, {}, ""};
    CHECK(compile_foreign(kernel, resolve_target(name), 16).size() > 500);
  }
}

TEST_CASE_FIXTURE(Fixture, "a function that is declared otherwise than its signature says is refused with its line") {
  const std::string begin = "#include <stdint.h>\ntypedef float real;\n";
  const std::string signature = "saxpy(f32 a, in f32[n] x, inout f32[n] y)";
  const auto about = [&](const std::string& parameters, const std::string& text = "") {
    const std::string c = file("f.c", begin + "void saxpy(" + parameters + ") {}\n");
    const std::string said = refusal(c, text.empty() ? signature : text);
    return said.starts_with(c + ":3: ") ? said.substr(c.size() + 4) : said;
  };
  const std::string meaning = "; its signature means void saxpy(float a, const float* x, float* y, int64_t n)";
  CHECK(about("real a, const real* restrict x, real y[], int64_t n") == "nothing was refused");
  CHECK(about("float, const float*, float*, long long") == "nothing was refused");
  CHECK(about("float a, const double* x, float* y, int64_t n") ==
        "parameter 2 of saxpy: expected const float* x, got const double * x" + meaning);
  CHECK(about("double a, const float* x, float* y, int64_t n") ==
        "parameter 1 of saxpy: expected float a, got double a" + meaning);
  CHECK(about("const float* x, float* y, int64_t n, float a") ==
        "parameter 1 of saxpy: expected float a, got const float * x" + meaning);
  CHECK(about("float a, float* y, const float* x, int64_t n") ==
        "parameter 2 of saxpy: expected const float* x, got float * y, which the signature has as parameter 3: "
        "expected them in one order");
  CHECK(about("float a, const float* x, const float* y, int64_t n") ==
        "parameter 3 of saxpy: expected float* y, got const float * y, which cannot be written" + meaning);
  CHECK(about("float a, const float* x, float* y") ==
        "saxpy: expected 4 parameters, got 3; the size int64_t n is missing" + meaning);
  CHECK(about("float a, const float* x, float* y, int n") ==
        "parameter 4 of saxpy: expected int64_t n, got int n" + meaning);
  CHECK(about("float a, const float* x, float* y, int64_t n, int m") ==
        "saxpy: expected 4 parameters, got 5" + meaning);
  CHECK(about("float a, const float* x, float* y, int64_t n", "i32 " + signature) ==
        "saxpy: expected it to return int32_t, as its signature says, got void");
  const std::string gemm = "g(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)";
  const std::string c = file("g.c", "void g(const float* A, const float* B, float* C, long M, long N, long K) {}\n");
  CHECK(refusal(c, gemm) ==
        c + ":1: parameter 5 of g: expected int64_t K, got long N, which the signature has as parameter 6: expected "
            "them in one order");
  const std::string rows = file("r.c", "void g(float A[][4], unsigned char (*b)[3], void* c, unsigned short* h) {}\n");
  CHECK(compile(rows, "g(inout f32[4,4] A, in u8[3] b, in f64[2] c, inout bf16[2] h)", target).size() > 500);
}

TEST_CASE_FIXTURE(Fixture,
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

// A file of the user who compiles what somebody else wrote, in a folder beside the kernel's.
struct Stranger : Fixture {
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
  REQUIRE_MESSAGE(confine::landlock_version() > 0, "this kernel has no Landlock");
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
  REQUIRE_MESSAGE(confine::landlock_version() > 0, "this kernel has no Landlock");
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

TEST_CASE_FIXTURE(Fixture, "clang's message cannot control a terminal") {
  const std::string said = refusal(file("f.c", "#error \x1b]0;mine\x07\nvoid f(void) {}\n"), "f()");
  CHECK(said.find("#error") != std::string::npos);
  CHECK(said.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace ferry::foreign
