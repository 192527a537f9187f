// Tests of stages that are computed in a loop over two fused axes.
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::test;

TEST_CASE("what is computed in a fused loop stands under no guard") {
  const std::string stages =
      "def f(float(B,H,W) A) -> (D) { C(b,h,w) max=! A(b,h,w+k) where k in 0:3  D(b,h,w) = C(b,h,w) * C(b,h,w) }";
  for (const char* schedule :
       {"D: fuse b h -> bh\nC: compute_at D bh\n", "D: fuse b h -> bh\nD: parallel bh\nC: compute_at D bh\n",
        "D: fuse b h -> bh\nD: fuse bh w -> all\nC: compute_at D all\n"}) {
    CHECK(lowered_text(stages, schedule).find("if (") == std::string::npos);
    check_schedule(stages, schedule, {{"B", 2}, {"H", 3}, {"W", 7}});
    check_schedule(stages, schedule, {{"B", 2}, {"H", 0}, {"W", 7}});
  }
}

TEST_CASE("half of an even index keeps every product that it is part of") {
  for (const std::int64_t m : {0, 1, 3})
    check_schedule(
        "def f(int M, int(P,M+2,2*P+1) A) -> (S) { S(i,j) +=! (s % 2 == 0 ? A(s/2,j,r+i) : 1) where i in 0:P, j in "
        "0:M+1, r in 0:P, s in 0:P }",
        "", {{"M", m}, {"P", 5}});
}

TEST_CASE("a condition that loads is evaluated only where the guards of its loop hold") {
  const char* const sum =
      "def f(int N, uint16(7,2,N+2) A) -> (S) {\n"
      "  S(i,j,k) +=! (uint16(1) < A(i,j,k+2) ? uint16(r) + uint16(1) : uint16(0)) where i in 0:3, j in 0:1, k in 0:N, "
      "r in 0:2\n"
      "}\n";
  for (const char* schedule : {"S: split i 16", "S: split k 4\nS: reorder k.outer i j k.inner", "S: tile i j 16 1"}) {
    check_schedule(sum, schedule, {{"N", 1}});
    check_schedule(sum, schedule, {{"N", 7}});
  }
}
