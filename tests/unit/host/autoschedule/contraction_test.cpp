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
