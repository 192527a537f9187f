#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/text.h"
#include "host/lang/text/print_program.h"

#include <cstdint>
#include <string>

using namespace ferry;
using namespace ferry::lang;

namespace {

std::string meaning(const std::string& text) {
  std::string all;
  for (const Program& program : parse(text, "test.tc")) all += to_text(program);
  return all;
}

}  // namespace

TEST_CASE("matrix multiplication: shapes and the reduction follow from use") {
  CHECK(meaning("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }") ==
        "mm(in f32[M, K] A, in f32[K, N] B, out f32[M, N] C)\n"
        "  C(m, n) = sum(A[m, k] * B[k, n]; k in 0:K)\n");
}

TEST_CASE("a convolution's output is as large as the kernel leaves room for") {
  CHECK(meaning("def conv2d(float(N,C,H,W) I, float(O,C,KH,KW) K) -> (Y) {\n"
                "  Y(n,o,h,w) +=! I(n,c,h+kh,w+kw) * K(o,c,kh,kw) }") ==
        "conv2d(in f32[N, C, H, W] I, in f32[O, C, KH, KW] K, out f32[N, O, H - KH + 1, W - KW + 1] Y)\n"
        "  Y(n, o, h, w) = sum(I[n, c, h + kh, w + kw] * K[o, c, kh, kw]; c in 0:C, kh in 0:KH, kw in 0:KW)\n");
}

TEST_CASE("strided, divided and reversed uses give exact ranges") {
  CHECK(meaning("def f(float(W) I, float(K) k) -> (Y) { Y(w) +=! I(2*w + x) * k(x) }") ==
        "f(in f32[W] I, in f32[K] k, out f32[(W - K) / 2 + 1] Y)\n"
        "  Y(w) = sum(I[2 * w + x] * k[x]; x in 0:K)\n");
  CHECK(meaning("def up(float(N) A) -> (B) { B(i) = A(i/2) }") ==
        "up(in f32[N] A, out f32[2 * N] B)\n  B(i) = A[i / 2]\n");
  CHECK(meaning("def rev(float(N) A) -> (B) { B(i) = A(N-1-i) }") ==
        "rev(in f32[N] A, out f32[N] B)\n  B(i) = A[N - 1 - i]\n");
  CHECK(meaning("def blur(float(N) A) -> (B) { B(i) = A(i) + A(i+1) + A(i+2) }") ==
        "blur(in f32[N] A, out f32[N - 2] B)\n  B(i) = A[i] + A[i + 1] + A[i + 2]\n");
}

TEST_CASE("a given range that divides is seen to stay inside") {
  CHECK(meaning("def f(float(W) I, float(K) k) -> (Y) { Y(w) +=! I(2*w + x) * k(x) where w in 0:(W-K)/2+1 }") ==
        "f(in f32[W] I, in f32[K] k, out f32[(W - K) / 2 + 1] Y)\n"
        "  Y(w) = sum(I[2 * w + x] * k[x]; x in 0:K)\n");
}

TEST_CASE("a choice that guards an index stays one, others become selects") {
  CHECK(meaning("def tril(float(N,M) A) -> (B) { B(i,j) = i >= j ? A(i,j) : 0 where i in 0:N, j in 0:M }") ==
        "tril(in f32[N, M] A, out f32[N, M] B)\n  B(i, j) = select(i >= j, A[i, j], 0.0f)\n");
  CHECK(meaning("def pad(float(N) A, int p) -> (B) { B(i) = i >= p && i < N + p ? A(i - p) : 0 where i in 0:N+2*p }") ==
        "pad(in f32[N] A, i64 p, out f32[2 * p + N] B)\n"
        "  B(i) = (i >= p && i < N + p) ? A[i - p] : 0.0f\n");
}

TEST_CASE("the right side of && may rely on the left one") {
  CHECK(meaning("def f(float(N) A) -> (B) { B(i) = i > 0 && A(i-1) > 0 ? 1 : 2 where i in 0:N }") ==
        "f(in f32[N] A, out i32[N] B)\n  B(i) = select(i > 0 ? A[i - 1] > 0.0f : false, 1i32, 2i32)\n");
}

TEST_CASE("an update starts from the argument, later ones from the statement before") {
  CHECK(meaning("def sgemm(float a, float b, float(M,K) A, float(K,N) B, float(M,N) C) -> (C) {\n"
                "  C(i,j) = b * C(i,j)\n  C(i,j) += a * A(i,k) * B(k,j) }") ==
        "sgemm(f32 a, f32 b, in f32[M, K] A, in f32[K, N] B, inout f32[M, N] C)\n"
        "  C.0(i, j) = b * C[i, j]\n"
        "  C(i, j) = sum(a * A[i, k] * B[k, j]; k in 0:K; from C.0[i, j])\n");
  CHECK(meaning("def add(float(M,K) A, float(M) C) -> (C) { C(i) += A(i,k) }") ==
        "add(in f32[M, K] A, inout f32[M] C)\n  C(i) = sum(A[i, k]; k in 0:K; from C[i])\n");
}

TEST_CASE("a statement over a part of a tensor leaves the rest, and the size is checked at the call") {
  CHECK(meaning("def f(float(N) A) -> (A) { A(i) += 1 where i in 2:5 }") ==
        "f(inout f32[N] A)\n  require 4 < N\n  A(i) = (i >= 2 && i < 5) ? A[i] + 1.0f : A[i]\n");
  CHECK(meaning("def g(float(N) A, float(N,K) B) -> (A) { A(i) max=! B(i,k) where i in 0:2 }") ==
        "g(inout f32[N] A, in f32[N, K] B)\n  require 1 < N\n"
        "  A(i) = max(B[i, k]; k in 0:K; where i < 2; from select(i < 2, f32(-inf), A[i]))\n");
}

TEST_CASE("a filter's window keeps its size whatever the image leaves room for") {
  CHECK(meaning("def f(float(H) I, float(K) k, int s) -> (Y) { Y(h) +=! I(s*h + x) * k(x) where h in 0:(H-K)/s+1 }") ==
        "f(in f32[H] I, in f32[K] k, i64 s, out f32[(H - K) / s + 1] Y)\n"
        "  require K <= 0 || (H - K) / s + 1 <= 0 || (min(0, (H - K) / s * s) >= 0 && K + max(0, (H - K) / s * s) - 1 "
        "< H)\n"
        "  Y(h) = sum(I[s * h + x] * k[x]; x in 0:K)\n");
}

TEST_CASE("sizes that the text cannot relate are checked at the call") {
  CHECK(meaning("def corr(float(NA) A, float(NB) B, float(ND) D) -> (Y) { Y(i) +=! A(i+k)*B(k)*D(i) }") ==
        "corr(in f32[NA] A, in f32[NB] B, in f32[ND] D, out f32[ND] Y)\n"
        "  require NB <= 0 || ND <= 0 || ND + NB - 2 < NA\n"
        "  Y(i) = sum(A[i + k] * B[k] * D[i]; k in 0:NB)\n");
}

TEST_CASE("a scalar that bounds a range or moves an index is 64 bits wide") {
  CHECK(meaning("def slice(float(N) A, int b, int n, int c) -> (B) { B(i) = A(b + i) * c where i in 0:n }") ==
        "slice(in f32[N] A, i64 b, i64 n, i32 c, out f32[n] B)\n"
        "  require n <= 0 || (b >= 0 && n + b - 1 < N)\n"
        "  B(i) = A[b + i] * f32(c)\n");
}

TEST_CASE("numbers take the type of what they meet") {
  CHECK(meaning("def f(double(N) A) -> (B) { B(i) = A(i) * 0.1 }") ==
        "f(in f64[N] A, out f64[N] B)\n  B(i) = A[i] * 0.1\n");
  CHECK(meaning("def f(half(N) A) -> (B) { B(i) = A(i) * 2 + 1.5 }") ==
        "f(in f16[N] A, out f16[N] B)\n  B(i) = A[i] * 2.0f16 + 1.5f16\n");
  CHECK(meaning("def f(int(N) A) -> (B) { B(i) = A(i) * 0.5 }") ==
        "f(in i32[N] A, out f32[N] B)\n  B(i) = f32(A[i]) * 0.5f\n");
  CHECK(meaning("def f(float(N) A) -> (B, C, D) { B(i) = 1.5 where i in 0:N  C() = 7  D() = exp(1.0) }") ==
        "f(in f32[N] A, out f32[N] B, out i32[] C, out f32[] D)\n  B(i) = 1.5f\n  C() = 7i32\n  D() = exp(1.0f)\n");
}

TEST_CASE("the least integer of 64 bits can be written") {
  for (const char* number : {"-9223372036854775808", "int64(-9223372036854775808)", "-9223372036854775808l"})
    CHECK(meaning("def f(int64(N) A) -> (B) { B(i) = max(A(i), " + std::string(number) + ") }") ==
          "f(in i64[N] A, out i64[N] B)\n  B(i) = max(A[i], -9223372036854775808)\n");
}

TEST_CASE("several statements, several outputs, comments and casts") {
  CHECK(meaning("# rows\n"
                "def stats(float(N,M) X) -> (mean, top) { // two outputs\n"
                "  total(i) +=! X(i,j);\n"
                "  mean(i) = total(i) / M\n"
                "  top(i) max=! int(X(i,j)) }") ==
        "stats(in f32[N, M] X, out f32[N] mean, out i32[N] top)\n"
        "  total(i) = sum(X[i, j]; j in 0:M)\n"
        "  mean(i) = total[i] / f32(M)\n"
        "  top(i) = max(i32(X[i, j]); j in 0:M)\n");
}

TEST_CASE("a place is counted from the start of each range, of one index as of several") {
  CHECK(meaning("def f(float(M,K) A) -> (I) { I(m) argmax=! A(m,k) }") ==
        "f(in f32[M, K] A, out i64[M] I)\n  I(m) = argmax(A[m, k], k; k in 0:K).1\n");
  CHECK(meaning("def f(float(M,K) A) -> (I) { I(m) argmax=! A(m,k) where k in 2:K }").find("argmax(A[m, k], k - 2;") !=
        std::string::npos);
  CHECK(meaning("def f(float(M,K) A) -> (I) { I() argmax=! A(m,k) where m in 1:M, k in 2:K }")
            .find("argmax(A[m, k], (m - 1) * (K - 2) + k - 2;") != std::string::npos);
}

TEST_CASE("what is legal but probably not meant is warned of with its place") {
  const auto warnings = [](const std::string& text) {
    std::string all;
    const std::vector<Program> programs = parse(text, "test.tc");
    for (const std::string& warning : programs.at(0).warnings) all += warning.substr(0, warning.find('\n')) + "\n";
    return all;
  };
  CHECK(
      warnings("def f(float(N) X, float(N) Y) -> (Y) { Y(i) = Y(i-1) + X(i) where i in 1:N }") ==
      "test.tc:1:47: warning: 'Y' is read as it was before this statement: elements of 'Y' that the statement computes "
      "are not seen by it\n");
  CHECK(warnings("def f(float(N) X) -> (Y) { Y(i) = X(i)  Y(i) += Y(N-1-i) }").find("test.tc:1:49: warning: 'Y'") == 0);
  CHECK(warnings("def f(float(N) X, float(N) Y) -> (Y) { Y(i) = Y(i) * 2 + X(i)  Y(i) += X(i) }").empty());
  CHECK(warnings("def f(float(N) X) -> (Y) { T(i) = X(i)  Y(i) = X(i) }") ==
        "test.tc:1:28: warning: nothing reads 'T' as it is after this statement, so it is not computed\n");
  CHECK(warnings("def f(float(N) X) -> (Y) { Y(i) = X(i)  Y(i) = 2 * X(i) }").find("test.tc:1:28: warning: nothing") ==
        0);
  CHECK(warnings("def f(float(N,M) X) -> (I) { V, I(i) argmax=! X(i,j) }").find("nothing reads 'V'") !=
        std::string::npos);
  CHECK(warnings("def f(float(N) X) -> (Y) { T(i) = X(i)  Y(i) = T(i) }").empty());
}

TEST_CASE("a requirement carries its message") {
  const std::vector<Program> programs = parse(
      "def f(float(N) A, float(M) B) -> (C) { require(N == 2*M, \"A is twice B\") C(i) = A(2*i) + B(i) }", "test.tc");
  REQUIRE(programs.at(0).requirements.size() == 1);
  CHECK(programs[0].requirements[0].message == "A is twice B");
}

TEST_CASE("a long chain and deep nesting are refused, not overflowed") {
  const auto refused = [](const std::string& expression) {
    try {
      parse("def f(float(N) A) -> (B) { B(i) = " + expression + " }", "test.tc");
    } catch (const CompileError&) {
      return true;
    }
    return false;
  };
  std::string sum = "A(i)";
  for (int i = 0; i < 100'000; ++i) sum += " + A(i)";
  CHECK(refused(sum));
  CHECK(refused(std::string(100'000, '(') + "A(i)" + std::string(100'000, ')')));
  CHECK_THROWS_WITH_AS(
      parse("def f(float(N) A) -> (B) {\n  B(i) = " + std::string(100'000, '('), "test.tc"),
      doctest::Contains("test.tc:2:810: expected a simpler expression, got one nested more than 800 levels deep"),
      CompileError);
  CHECK(refused(std::string(100'000, '-') + "A(i)"));
  std::string choices = "A(i)";
  for (int i = 0; i < 10'000; ++i) choices = choices + " ? 1 : A(i)";
  CHECK(refused(choices));
  // Chains within parentheses within chains: each chain is short, but the tree is 60,000 levels deep.
  std::string deep = "A(i)";
  std::string chain;
  for (int i = 0; i < 400; ++i) chain += " + 1";
  for (int i = 0; i < 150; ++i) deep = "(" + deep + chain + ")";
  CHECK(refused(deep));
}

TEST_CASE("five hundred levels of parentheses, choices, calls and operators are no mistake") {
  const auto accepted = [](const std::string& expression) {
    return parse("def f(float(N) A) -> (B) { B(i) = " + expression + " where i in 0:N }", "test.tc").size() == 1;
  };
  CHECK(accepted(std::string(500, '(') + "A(i)" + std::string(500, ')')));
  std::string choices = "A(i)", nested = "A(i)", calls = "A(i)", sum = "A(i)";
  for (int i = 0; i < 500; ++i) {
    choices = "i == " + std::to_string(i) + " ? 1 : " + choices;
    nested = "A(i) + (" + nested + ")";
    calls = "abs(" + calls + ")";
    sum += " + A(i)";
  }
  CHECK(accepted(choices));
  CHECK(accepted(nested));
  CHECK(accepted(calls));
  CHECK(accepted(sum));
}

TEST_CASE("a reduction that starts anew has its '!' right behind the '='") {
  const std::string from = "def f(bool(N,M) A, bool(N) B) -> (B) { B(i) ", anew = "def f(bool(N,M) A) -> (B) { B(i) ";
  CHECK(meaning(from + "any= !A(i,j) }") == meaning(from + "any= (!A(i,j)) }"));
  CHECK(meaning(from + "all= !A(i,j) }") == meaning(from + "all= (!A(i,j)) }"));
  CHECK(meaning(anew + "any=! A(i,j) }") == meaning(anew + "any=!A(i,j) }"));
  CHECK(meaning(anew + "any=!!A(i,j) }") == meaning(anew + "any=! (!A(i,j)) }"));
}

TEST_CASE("texts with random damage are parsed or refused with a place, never worse") {
  const std::string text =
      "def conv(float(N,C,H,W) I, float(O,C,KH,KW) K, int p, half alpha) -> (Y, Z) {\n"
      "  P(n,c,h,w) = h >= p && w < W + p ? I(n,c,h-p,w-p) : 0.0 where h in 0:H+2*p, w in 0:W+2*p\n"
      "  Y(n,o,h,w) +=! P(n,c,2*h+kh,w/2+kw) * K(o,c,kh,kw) - 1e-5f\n"
      "  Z() max=! min(Y(n,o,h,w), 3) require(N == 2, \"two\") }\n";
  std::uint64_t state = 42;
  const auto random = [&](std::size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state >> 33) % below;
  };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string damaged = text;
    for (std::size_t edits = 1 + random(3); edits > 0; --edits) {
      const std::size_t at = random(damaged.size());
      switch (random(3)) {
        case 0: damaged.erase(at, 1 + random(6)); break;
        case 1: damaged.insert(at, text.substr(random(text.size()), 1 + random(12))); break;
        default: damaged[at] = static_cast<char>(random(256)); break;
      }
    }
    try {
      parse(damaged, "test.tc");
      ++accepted;
    } catch (const CompileError& error) {
      CHECK(std::string(error.what()).substr(0, 8) == "test.tc:");
      ++refused;
    }
  }
  CHECK(accepted > 50);
  CHECK(refused > 1000);
}

TEST_CASE("an error in a text carries its place and the code of a user's mistake") {
  try {
    parse("def f(float(N) A) -> (B) {\n  B(i) = 2 * A(i) +\n}", "test.tc");
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    const auto* located = dynamic_cast<const CompileError*>(&error);
    REQUIRE(located != nullptr);
    CHECK(located->location().file == "test.tc");
    CHECK(located->location().line == 3);
    CHECK(located->location().column == 1);
  }
}

TEST_CASE("a size that is fixed is a number wherever it is named, and the others stay sizes") {
  const std::string def =
      "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * float(K) where k in 0:K }";
  const std::vector<Program> fixed = parse(def, "test.tc", false, {{"K", 64}, {"M", 3}});
  const std::string numbers =
      "def mm(float(3,64) A, float(64,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) * float(64) where k in 0:64 }";
  CHECK(to_text(fixed.at(0)) == to_text(parse(numbers, "test.tc").at(0)));
  CHECK_THROWS_WITH_AS(parse(def, "test.tc", false, {{"Q", 64}}),
                       "test.tc: expected a size to fix, got 'Q', which no def has", CompileError);
}
