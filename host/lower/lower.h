// Lowers a program with a schedule to loops: a pure function of both.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <span>
#include <vector>

namespace ferry::lower {

ir::Function lower(const lang::Program& program, const schedule::Schedule& schedule);

// Returns the functions of a module: an init function follows the one whose instances it computes
// (host/lower/constant_stages.h). There is one schedule for each program.
std::vector<ir::Function> lower_module(std::span<const lang::Program> programs,
                                       std::span<const schedule::Schedule> schedules);

}  // namespace ferry::lower
