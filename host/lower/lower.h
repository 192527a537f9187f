// (what, how) -> loops. A pure function of the program and the schedule.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "host/lang/program.h"
#include "host/schedule/schedule.h"

namespace ferry::lower {

ir::Function lower(const lang::Program& program, const schedule::Schedule& schedule);

// With the default schedule for the target.
ir::Function lower(const lang::Program& program, const Target& target);

}  // namespace ferry::lower
