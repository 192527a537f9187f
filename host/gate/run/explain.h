// Says what makes the current side of a case slower.
#pragma once

#include "host/compiler/api/compiler.h"
#include "host/gate/api/report.h"
#include "host/gate/run/side_module.h"

namespace ferry::gate {

// Adds to the result how the modules differ, or a warning that says why nobody can tell.
void explain(const Compiler& compiler, const PerSide<MeasuredSide>& sides, CaseResult& result);

}  // namespace ferry::gate
