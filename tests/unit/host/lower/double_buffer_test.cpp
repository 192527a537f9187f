// Tests that what is computed ahead of a loop needs nothing that the loop's iterations compute.
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what each iteration computes for itself cannot be used an iteration ahead") {
  const char* const chain =
      "def chain(int(64,N) A) -> (C) { X(i,j) = A(i,j) + 1  Y(i,j) = X(i,j) * 2  C(i,j) = Y(i,j) + 3 }";
  CHECK(
      contains(refusal(chain, "Y: compute_at C i\nX: compute_at C i\nY: double_buffer"),
               "double_buffer 'Y': expected a stage that can be computed an iteration ahead, got one that needs 'X'"));
  check_schedule(chain, "Y: compute_at C i\nX: compute_at C i\nX: double_buffer 3", {{"N", 5}});
}

TEST_CASE("what each iteration computes for itself and later ones cannot be used an iteration ahead") {
  const char* const window =
      "def window(int(66) A) -> (C) { X(i) = A(i) + 1 where i in 0:66  Y(i) = X(i) * X(i+2) where i in 0:64  "
      "C(i) = Y(i) + X(i+1) where i in 0:64 }";
  const std::string kept = "X: compute_at C i\nY: compute_at C i\nX: store_at root\n";
  CHECK(
      contains(refusal(window, "X: compute_at C i\nY: compute_at C i\nY: double_buffer\nX: store_at root"),
               "double_buffer 'Y': expected a stage that can be computed an iteration ahead, got one that needs 'X'"));
  check_schedule(window, kept);
}

TEST_CASE("blocks that an instruction reads are packed an iteration ahead") {
  const char* const bytes = "def bytes(uint8(M,32) A, int8(96,32) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(n,k)) }";
  const std::string packed =
      "B: cache_read global -> P\nP: transform_layout (n, k) -> (n / 16, k / 4, n % 16, k % 4)\n"
      "C: split k 4 -> ko ki\nsplit n 16 -> no ni\nreorder no ko m ni ki\n";
  for (const char* const copies : {"2", "3"}) {
    for (const char* const at : {"ko", "no"}) {
      const std::string ahead = std::string("P: compute_at C ") + at + "\nP: double_buffer " + copies;
      check_schedule(bytes, packed + ahead + "\nC: tensorize ni dot", {{"M", 5}});
      check_schedule(bytes, packed + "tensorize ni dot\n" + ahead, {{"M", 1}});
    }
  }
}
