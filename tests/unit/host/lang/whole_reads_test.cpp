#include "host/lang/whole_reads.h"

#include <doctest/doctest.h>

#include "ferry/lang/text.h"

using namespace ferry;

namespace {

std::vector<bool> whole(const std::string& text) { return lang::whole_reads(lang::parse(text, "f.tc").front()); }

}  // namespace

TEST_CASE("inputs that every output or sum runs over are read as a whole") {
  CHECK(whole("def f(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }") == std::vector<bool>{true, true, false});
  CHECK(whole("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }") ==
        std::vector<bool>{true, true, false});
  CHECK(whole("def s(float(N) A) -> (S) { S() +=! A(i) }") == std::vector<bool>{true, false});
}

TEST_CASE("inputs of which a part may be enough are not") {
  CHECK(whole("def f(float(N) A) -> (B) { B(i) = A(i) where i in 0:4 }") == std::vector<bool>{false, false});
  CHECK(whole("def f(float(N,N) A) -> (B) { B(i) = A(i,i) }") == std::vector<bool>{false, false});
  CHECK(whole("def f(float(N) A, float(N) C) -> (B) { B(i) = A(i) > 0 ? A(i) : C(i) }") ==
        std::vector<bool>{false, false, false});
  CHECK(whole("def f(float(N) A) -> (B) { B(i) +=! A(i + k) where i in 0:4, k in 0:3 }") ==
        std::vector<bool>{false, false});
}
