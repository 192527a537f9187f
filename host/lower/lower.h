// (what, how) -> loops. A pure function of the program, the schedule and the target's register and cache sizes.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "host/lang/program.h"

namespace ferry::lower {

// With the default schedule: parallel outside, vectorised inside.
ir::Function lower(const lang::Program& program, const Target& target);

}  // namespace ferry::lower
