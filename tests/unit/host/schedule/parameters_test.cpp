// Tests of directives about parameters, which no stage computes.
#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/schedule.h"

using namespace ferry;
using schedule::Schedule;

namespace {

lang::Program product() {
  return lang::parse("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "mm.tc").front();
}

}  // namespace

TEST_CASE("a parameter is named like a stage where it is copied") {
  const lang::Program program = product();
  Schedule by_name(program);
  by_name["A"].cache_read("global", {});
  CHECK(by_name.to_text().starts_with("A: cache_read global"));
  CHECK_THROWS_WITH_AS(by_name["Z"], "expected a stage of the program ('A.global', 'C'), got 'Z'", CompileError);
  CHECK_THROWS_AS(by_name["A"].vectorize("m"), CompileError);
}

TEST_CASE("a line without a stage behind a copy of a parameter means the copy") {
  const lang::Program program = product();
  const auto text_of = [&](const char* text) { return Schedule::replay(program, text).to_text(); };
  CHECK(text_of("A: cache_read global -> PA\ncompute_at C m") == "A: cache_read global -> PA\nPA: compute_at C m\n");
  CHECK(text_of("A: cache_read shared\ncompute_at C m").ends_with("\nA.shared: compute_at C m\n"));
  // That of a stage stays what it was.
  CHECK(text_of("C: split m 4\nreorder m.inner m.outer").ends_with("\nC: reorder m.inner m.outer\n"));
}
