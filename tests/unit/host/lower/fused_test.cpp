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

TEST_CASE("a loop that is fused from two negative extents does not run") {
  const char* const read_of_nothing =
      "def f(int(N) A) -> (S0) {\n"
      "  S1(i,j,k) = i + j * 40 + k where i in 0:40, j in 0:40, k in 0:40\n"
      "  S0(i,j) = (i >= 1 && i < 8 ? S1(i+j,i-1,2*i+2) : A(i)) where i in 0:N, j in 0:2\n"
      "}\n";
  const char* const empty_sum =
      "def f(int N, int M) -> (C) { C(i) +=! i + r * s + 1 where i in 0:4, r in 0:N-5, s in 0:M-5 }";
  const char* const three =
      "def f(int N) -> (C) { C(i) +=! i + r * s + t where i in 0:4, r in 0:N-5, s in 0:3, t in 0:N-4 }";
  for (const std::int64_t n : {0, 1, 2, 7, 9}) {
    check_schedule(read_of_nothing, "S1: fuse j k\n", {{"N", n}});
    check_schedule(read_of_nothing, "S1: fuse i j\nS1: fuse i.j.fused k -> all\nS1: split all 4\n", {{"N", n}});
    check_schedule(empty_sum, "C: fuse r s\n", {{"N", n}, {"M", n}});
    check_schedule(three, "C: fuse r s -> rs\nC: fuse rs t\n", {{"N", n}});
  }
}

TEST_CASE("partial results are kept for fused loops of which one varies with a loop around them") {
  const char* const mirrored =
      "def f(int M, int P) -> (S) {\n"
      "  T(i,j,k) argmin=! (i + r * 3 + j * k) % 5 where i in 0:M, j in 0:P+7, k in 0:M+1, r in 0:M+1\n"
      "  S(i,j) = T(i,j,i) * 9 + T(M-1-i,min(j,6),i+1) where i in 0:M, j in 0:P\n"
      "}\n";
  for (const std::int64_t m : {0, 1, 2, 5, 6})
    for (const std::int64_t p : {0, 3, 8})
      check_schedule(mirrored, "T: compute_at S i\nT: reorder r j i k\nT: fuse j i\n", {{"M", m}, {"P", p}});
}

TEST_CASE("a border that is cut off by a negative padding is no loop, however it is fused") {
  const char* const strided =
      "def f(int(H,W) I, int padding) -> (Y) {\n"
      "  P(h,w) = h >= padding && h < H + padding && w >= padding && w < W + padding ? I(h-padding,w-padding) : 0\n"
      "      where h in 0:H+2*padding, w in 0:W+2*padding\n"
      "  Y(h,w) = P(h*2,w*2) where h in 0:(H+2*padding-1)/2+1, w in 0:(W+2*padding-1)/2+1\n"
      "}\n";
  for (const std::int64_t padding : {-1, 0, 2}) {
    check_schedule(strided, "P: fuse h w\n", {{"H", 1}, {"W", 1}, {"padding", padding}});
    check_schedule(strided, "P: fuse h w -> hw\nP: split hw 4\n", {{"H", 3}, {"W", 2}, {"padding", padding}});
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
