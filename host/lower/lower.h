// (what, how) -> loops. A pure function of the program and the schedule.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "host/lang/program.h"
#include "host/schedule/schedule.h"

#include <span>
#include <vector>

namespace ferry::lower {

ir::Function lower(const lang::Program& program, const schedule::Schedule& schedule);

// As a module holds them: what constant parameters alone decide is a function of its own after the one that wants it
// (lower/constant_stages.h). One schedule a program.
std::vector<ir::Function> lower_module(std::span<const lang::Program> programs,
                                       std::span<const schedule::Schedule> schedules);

// With the default schedule for the target.
ir::Function lower(const lang::Program& program, const Target& target);

}  // namespace ferry::lower
