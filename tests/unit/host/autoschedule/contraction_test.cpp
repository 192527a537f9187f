#include "host/autoschedule/contraction.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/expr.h"
#include "ferry/lang/text.h"
#include "host/autoschedule/sized_stages.h"

using namespace ferry;
using namespace ferry::autoschedule;

TEST_CASE("a contraction owns its loads, which packing replaces in the stage") {
  const lang::Program program =
      lang::parse("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", "mm.tc").at(0);
  schedule::Stages stages = stages_at(program, {{"M", 64}, {"N", 64}, {"K", 64}});
  const std::optional<Contraction> contraction = find_contraction(stages.front(), 8, {});
  REQUIRE(contraction);
  stages.front().values.clear();
  REQUIRE(contraction->values.size() == 1);
  const std::vector<const ir::Load*> owned = analysis::loads_of(contraction->values[0].as<ir::Reduce>()->sources[0]);
  for (const ir::Load* load : {contraction->row_load, contraction->column_load})
    CHECK(std::find(owned.begin(), owned.end(), load) != owned.end());
  CHECK(contraction->row_load->buffer->name == "A");
  CHECK(contraction->column_load->buffer->name == "B");
}

TEST_CASE("columns of one vector have blocks, along the axis that only their tensor depends on") {
  const lang::Program program =
      lang::parse(
          "def conv(float(N,C,H,W,8) X, float(O,C,3,3,8,8) K) -> (Y) {\n"
          "  Y(n,o,h,w,v) +=! X(n,c,h+r,w+s,u) * K(o,c,r,s,u,v) where h in 0:H-2, w in 0:W-2\n}",
          "conv.tc")
          .at(0);
  const schedule::Stages stages = stages_at(program, {{"N", 1}, {"C", 2}, {"O", 6}, {"H", 16}, {"W", 9}});
  const std::optional<Contraction> contraction = find_contraction(stages.front(), 8, {});
  REQUIRE(contraction);
  CHECK(contraction->column == 4);
  REQUIRE(contraction->blocks);
  CHECK(contraction->blocks->axis == 1);
  CHECK(contraction->blocks->dimension == 0);
  CHECK(contraction->columns == 48);
  CHECK(contraction->row == 3);
  REQUIRE(contraction->outer_row);
  CHECK(*contraction->outer_row == 2);
  // For shorter vectors the axis has several vectors itself.
  const std::optional<Contraction> narrow = find_contraction(stages.front(), 4, {});
  REQUIRE(narrow);
  CHECK_FALSE(narrow->blocks);
}
