// Lowers a program with a schedule to loops: a pure function of both.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <span>
#include <vector>

namespace ferry::lower {

// Whether `tensorize` puts calls of the user's functions in C in place of loops, or leaves the loops, which it has then
// only found to compute the same, for those who interpret the program.
enum class FunctionsOfC { called, left_as_loops };

ir::Function lower(const lang::Program& program, const schedule::Schedule& schedule,
                   FunctionsOfC functions = FunctionsOfC::called);

// Returns the functions of a module: an init function follows the one whose instances it computes
// (host/lower/constant_stages.h). There is one schedule for each program.
std::vector<ir::Function> lower_module(std::span<const lang::Program> programs,
                                       std::span<const schedule::Schedule> schedules);

}  // namespace ferry::lower
