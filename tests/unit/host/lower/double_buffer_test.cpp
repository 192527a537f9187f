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
