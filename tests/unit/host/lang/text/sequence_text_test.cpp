// Tests the meaning of statements that run in order along an index.
#include <doctest/doctest.h>

#include "ferry/lang/text.h"
#include "host/lang/text/print_program.h"

#include <string>

using namespace ferry::lang;

namespace {

std::string meaning(const std::string& text) { return to_text(parse(text, "test.tc").at(0)); }

}  // namespace

TEST_CASE("a statement along an index reads its own tensor at smaller ones") {
  CHECK(meaning("def f(float(N) X) -> (S) { S(j) = X(j) + (j >= 1 ? S(j-1) : 0) along j }") ==
        "f(in f32[N] X, out f32[N] S)\n  S(j) = X[j] + (j >= 1 ? S[j - 1] : 0.0f) along j\n");
}

TEST_CASE("a statement along an index of a tensor that exists starts where it may read the one before") {
  CHECK(meaning("def f(float(N,M) S) -> (S) { S(i,j) += S(i,j-1) along j }") ==
        "f(inout f32[N, M] S)\n  S(i, j) = j >= 1 ? S[i, j] + S_1[i, j - 1] : S[i, j] along j\n");
}

TEST_CASE("a new tensor along an index has the type of what its elements meet") {
  CHECK(meaning("def f(half(N) X) -> (S) { S(j) = j >= 1 ? S(j-1) * 2 + X(j) : 0 along j }") ==
        "f(in f16[N] X, out f16[N] S)\n  S(j) = j >= 1 ? S[j - 1] * 2.0f16 + X[j] : 0.0f16 along j\n");
  // Whatever the operation that its elements meet a literal in.
  for (const char* const type : {"int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64", "half", "double"}) {
    for (const char* const earlier :
         {"(j >= 1 ? S(j-1) : 0)", "(j >= 1 ? S(j-1) * 2 : 1 + 2)", "max(j >= 1 ? S(j-1) : 0, 3)",
          "select(j < 1, 0, clamp(S(j-1), 0, 9))", "(j >= 2 ? S(j-1) : j >= 1 ? abs(S(j-1)) : 7)"}) {
      CAPTURE(std::string(type) + " " + earlier);
      const Program program =
          parse("def f(" + std::string(type) + "(N) X) -> (S) { S(j) = X(j) + " + earlier + " along j }", "t.tc").at(0);
      CHECK(program.parameters.back().tensor.dtype() == program.parameters.front().tensor.dtype());
    }
  }
  CHECK(meaning("def f() -> (F) { F(j) = j >= 2 ? F(j-1) + F(j-2) : 1 along j where j in 0:10 }") ==
        "f(out i32[10] F)\n  F(j) = j >= 2 ? F[j - 1] + F[j - 2] : 1i32 along j\n");
  CHECK(meaning("def f(float(N) X) -> (S) { S(j) = X(j) > 0 || (j >= 1 ? S(j-1) : false) along j }")
            .starts_with("f(in f32[N] X, out bool[N] S)\n"));
}

TEST_CASE("the steps of a recurrent network are reductions over the step before") {
  CHECK(meaning("def rnn(float(T,N) X, float(N,N) W) -> (H) {\n"
                "  H(t,n) = X(t,n) where t in 0:T, n in 0:N\n"
                "  H(t,n) += W(n,k) * H(t-1,k) along t\n}") ==
        "rnn(in f32[T, N] X, in f32[N, N] W, out f32[T, N] H)\n"
        "  H.0(t, n) = X[t, n]\n"
        "  H(t, n) = sum(W[n, k] * H[t - 1, k]; k in 0:N; where t >= 1; from H.0[t, n]) along t\n");
}

TEST_CASE("updates along an index that is not one of the left side change elements with computed indices") {
  CHECK(meaning("def f(int(N) I, int B) -> (H) { H(b) = 0 where b in 0:B  H(I(u)) += 1 along u }") ==
        "f(in i32[N] I, i64 B, out i32[B] H)\n"
        "  H.0(b) = 0i32\n"
        "  H.before(i0) = H.0[i0]\n"
        "  H.inside() = all(i64(I[u]) >= 0 && i64(I[u]) < B; u in 0:N)\n"
        "  H(i64(I[u])) = H[i64(I[u])] + 1i32 along u\n");
}

TEST_CASE("an index that is on the left side twice updates a diagonal") {
  CHECK(meaning("def f(float(N,N) Y) -> (Y) { Y(u,u) = 0 along u }") ==
        meaning("def f(float(N,N) Y) -> (Y) { Y(u,u+0) = 0 along u }"));
  CHECK(meaning("def f(float(M,N,N) Y, float(M,N) D) -> (Y) { Y(i,u,u) += D(i,u) along u }") ==
        meaning("def f(float(M,N,N) Y, float(M,N) D) -> (Y) { Y(i,u,0+u) += D(i,u) along u }"));
}

TEST_CASE("reading a tensor that is updated in place as it was before gives a warning, along an index it does not") {
  CHECK(parse("def f(float(N) S) -> (S) { S(i) = S(i-1) * 2 }", "t.tc").at(0).warnings.size() == 1);
  CHECK(parse("def f(float(N) S) -> (S) { S(i) = S(i-1) * 2 along i }", "t.tc").at(0).warnings.empty());
}
