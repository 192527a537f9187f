// Reductions in several steps: what one step has added up, the next one takes up.
#include "tests/unit/host/lower/scheduled.h"

#include <doctest/doctest.h>

using namespace ferry::test;

TEST_CASE("a tile under several loops of a reduction goes on from what it had, and starts once") {
  const char* const sum = "def f(int(N,K,L,M) A) -> (C) { C(i) +=! A(i,r,s,t) }";
  const char* const nested = "C: split i 4\nC: reorder r s i.outer t i.inner\nC: vectorize i.inner\n";
  for (const Sizes& sizes : {Sizes{{"N", 5}, {"K", 3}, {"L", 4}, {"M", 2}},
                             {{"N", 8}, {"K", 1}, {"L", 2}, {"M", 3}},
                             {{"N", 3}, {"K", 2}, {"L", 0}, {"M", 3}},
                             {{"N", 3}, {"K", 0}, {"L", 2}, {"M", 3}}})
    check_schedule(sum, nested, sizes);
}

TEST_CASE("a reduction over nothing computes nothing in its loops") {
  const char* const rows =
      "def f(int(N,M) A) -> (C) { B(i,j) = A(i,j) * 2  C(i) +=! B(i+1,r) where i in 0:2, r in 0:M }";
  for (const std::int64_t m : {0, 1, 9})
    check_schedule(rows, "C: reorder r i\nB: compute_at C i\n", {{"N", 3}, {"M", m}});
}

TEST_CASE("partial results start from nothing, whatever their sum starts from") {
  const char* const update = "def f(int(N) C, int(N,M) A) -> (C) { C(i) += A(i,r) }";
  for (const std::int64_t m : {0, 1, 8, 13}) {
    check_schedule(update, "C: split r 4\nC: rfactor r.inner\n", {{"N", 5}, {"M", m}});
    check_schedule(update, "C: split r 4\nC: rfactor r.outer\n", {{"N", 5}, {"M", m}});
    check_schedule(update, "C: split r 4\nC: vectorize r.inner reduce\n", {{"N", 5}, {"M", m}});
  }
}
