// Loops of several vectorized axes.
#include "tests/unit/host/lower/scheduled.h"

#include <doctest/doctest.h>

using namespace ferry::test;

TEST_CASE("of two nested vectorized loops the outer one runs lane after lane") {
  const char* const copy = "def f(int32(N,M) A) -> (C) { C(i,j) = A(i,j) + A(j,i) where i in 0:4, j in 0:4 }";
  for (const char* const schedule :
       {"C: vectorize i\nC: vectorize j\n", "C: tile i j 2 2\nC: vectorize i.inner\nC: vectorize j.inner\n"})
    check_schedule(copy, schedule, {{"N", 4}, {"M", 4}});
}

TEST_CASE("partial results in lanes stand beside lanes of results") {
  const char* const sum = "def f(int32(N,M) A) -> (C) { C(i) +=! A(i,r) where i in 0:5, r in 0:M }";
  for (const int m : {0, 1, 8, 21}) {
    check_schedule(sum, "C: vectorize i\nC: split r 8\nC: vectorize r.inner reduce\n", {{"N", 5}, {"M", m}});
    check_schedule(sum, "C: vectorize i\nC: split r 5\nC: vectorize r.inner reduce\n", {{"N", 5}, {"M", m}});
    check_schedule(sum, "C: split i 4\nC: vectorize i.inner\nC: split r 4\nC: vectorize r.inner reduce\n",
                   {{"N", 5}, {"M", m}});
  }
}

TEST_CASE("lanes of a reduction under a choice stand inside of lanes of results") {
  const char* const largest =
      "def f(int32(N,M) A) -> (C) { C(i,j) max=! (r % 2 == 0 ? A(i,r) : A(j,r)) where i in 0:1, j in 0:2, r in 0:M }";
  check_schedule(largest, "C: vectorize j\nC: split r 2\nC: vectorize r.inner reduce\n", {{"N", 2}, {"M", 7}});
}
