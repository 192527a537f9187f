// Tests that a kernel's declaration is compared with its signature.
#include <doctest/doctest.h>

#include "tests/unit/crosscompile/foreign/foreign_fixture.h"

namespace ferry::foreign {
namespace {

TEST_CASE_FIXTURE(test::ForeignFixture,
                  "a function that is declared otherwise than its signature says is refused with its line") {
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

TEST_CASE_FIXTURE(test::ForeignFixture,
                  "types are compared whatever they are called: typedefs, enumerations, auto, templates") {
  const std::string begin =
      "#include <stdint.h>\ntypedef int32_t status;\ntypedef int16_t narrow;\nenum mode { kA };\n";
  const auto about = [&](const std::string& text, const std::string& signature, const std::string& name = "f.c") {
    const std::string c = file(name, begin + text);
    const std::string said = refusal(c, signature);
    return said.starts_with(c + ":5: ") ? said.substr(c.size() + 4) : said;
  };
  for (const char* type : {"int32_t", "status", "enum mode", "unsigned", "__typeof__(1)"})
    CHECK(about(type + std::string(" s(float* x) { x[0] = 1; return 0; }"), "i32 s(inout f32[1] x)") ==
          "nothing was refused");
  CHECK(about("narrow s(float* x) { x[0] = 1; return 0; }", "i32 s(inout f32[1] x)") ==
        "s: expected it to return int32_t, as its signature says, got narrow (short)");
  CHECK(about("float s(float* x) { return x[0]; }", "i32 s(inout f32[1] x)") ==
        "s: expected it to return int32_t, as its signature says, got float");
  CHECK(about("struct { double all[9]; } s(float* x) { __typeof__(s(x)) r = {{x[0]}}; return r; }",
              "s(inout f32[1] x)") == "s: expected it to return nothing or a number, got a structure");
  CHECK(about("void s(enum mode m, const status* x, const narrow y[4], status (*z)[4]) { z[0][0] = x[m] + y[m]; }",
              "s(i32 m, in i32[4] x, in i16[4] y, inout i32[4,4] z)") == "nothing was refused");
  CHECK(about("void s(const narrow* x) {}", "s(in i32[4] x)") ==
        "parameter 1 of s: expected const int32_t* x, got const narrow * x; its signature means void s(const int32_t* "
        "x)");
  CHECK(about("void s(float** x) { x[0][0] = 1; }", "s(inout f32[4] x)").find("got float * * x") != std::string::npos);
  CHECK(about("void s(void (*x)(int)) {}", "s(in f32[4] x)").find("parameter 1 of s: ") == 0);
  CHECK(about("typedef float lanes __attribute__((vector_size(16))); void s(lanes* x) { x[0] += 1; }",
              "s(inout f32[4] x)") == "nothing was refused");
  CHECK(about("typedef float lanes __attribute__((vector_size(16))); void s(lanes x) {}", "s(f32 x)")
            .find("expected float x, got lanes x") != std::string::npos);

  const std::string cpp = "namespace n { using code = std::int32_t; enum class Small : std::uint8_t { a }; }\n";
  const auto in_cpp = [&](const std::string& text, const std::string& signature) {
    return refusal(file("f.cpp", "#include <cstdint>\n" + cpp + text), signature);
  };
  CHECK(in_cpp("n::code s(float* x) { x[0] = 1; return 0; }", "i32 s(inout f32[1] x)") == "nothing was refused");
  CHECK(in_cpp("auto s(float* x) { x[0] = 1; return 0; }", "i32 s(inout f32[1] x)") == "nothing was refused");
  CHECK(in_cpp("auto s(float* x) -> n::code { x[0] = 1; return 0; }", "i32 s(inout f32[1] x)") ==
        "nothing was refused");
  CHECK(in_cpp("template <class T> T s(T* x) { x[0] = 1; return 0; }\ntemplate int s<int>(int*);",
               "i32 s(inout i32[1] x)") == "nothing was refused");
  CHECK(in_cpp("n::Small s(float* x) { x[0] = 1; return n::Small::a; }", "i32 s(inout f32[1] x)")
            .ends_with("f.cpp:3: s: expected it to return int32_t, as its signature says, got enum Small (unsigned "
                       "char)"));
  CHECK(in_cpp("void s(float (&x)[4], n::Small m) { x[0] = static_cast<int>(m); }", "s(inout f32[4] x, u8 m)") ==
        "nothing was refused");
  for (const char* name : {"armv7", "aarch64", "riscv64"})
    CHECK(compile(file("g.c", begin + "status s(float* x, enum mode m) { x[0] = m; return 0; }"),
                  "i32 s(inout f32[1] x, i32 m)", resolve_target(name), {"-g0"})
              .size() > 500);
}

TEST_CASE_FIXTURE(test::ForeignFixture, "functions in LLVM IR are compared with their signature too") {
  const auto about = [&](const std::string& parameters, const std::string& signature) {
    const std::string said = refusal(file("f.ll", "define i32 @f(" + parameters + ") {\n  ret i32 0\n}\n"), signature);
    return said.substr(0, said.find(';'));
  };
  const std::string ll = folder.file("f.ll") + ": ";
  CHECK(about("ptr %x, i64 %n", "i32 f(in f32[n] x)") == "nothing was refused");
  CHECK(about("float %a, ptr %x, i64 %n", "f(f32 a, in f32[n] x)") == "nothing was refused");
  CHECK(about("double %a, ptr %x, i64 %n", "f(f32 a, in f32[n] x)") ==
        ll + "parameter 1 of f: expected float a, got double a");
  CHECK(about("ptr %x, i32 %n", "f(in f32[n] x)") == ll + "parameter 2 of f: expected int64_t n, got i32 n");
  CHECK(about("ptr %x", "f(in f32[n] x)") == ll + "f: expected 2 parameters, got 1");
  CHECK(refusal(file("g.ll", "define void @f(ptr %x) {\n  ret void\n}\n"), "i32 f(in f32[1] x)")
            .ends_with("f: expected it to return int32_t, as its signature says, got void"));
}

}  // namespace
}  // namespace ferry::foreign
