// Stages that are computed in a loop over two axes at once.
#include "tests/unit/host/lower/scheduled.h"

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
