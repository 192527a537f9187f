// One schedule text for all functions of a kernel text: a line "def NAME" begins the directives of that function.
//
//     def mm
//     C: split m $rows in {4,8}
//     C: parallel m.outer
//
//     def add
//     parallel i
//
// A text without such lines applies to the only function compiled. A function without a section gets the default
// schedule; a section without directives means serial loops in the order of the definition.
#pragma once

#include "ferry/schedule/default_schedule.h"
#include "ferry/schedule/schedule.h"
#include "ferry/schedule/schedule_text.h"
#include "ferry/target/target.h"

#include <span>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns one schedule for each program. `others` are names of functions that are not among the programs but for which
// the text may have sections. Throws CompileError with file and line.
std::vector<schedule::Schedule> replay_module_schedule(std::span<const lang::Program> programs,
                                                       const ScheduleText& text, const Target& target,
                                                       const std::vector<std::string>& others = {},
                                                       const Sizes& sizes = {});

// Returns the knobs of all sections, each once. Throws CompileError for a malformed directive.
std::vector<schedule::Knob> knobs_of(const ScheduleText& text);

// `sizes` are as in default_schedule().
std::vector<schedule::Schedule> default_schedules(std::span<const lang::Program> programs, const Target& target,
                                                  const Sizes& sizes = {});

// Returns one schedule for each program, as schedule_at() does. Functions that the point does not name get the default
// schedule; a point without "def" is that of the only program. `others` are as in replay_module_schedule().
std::vector<schedule::Schedule> schedules_at(std::span<const lang::Program> programs, const PointText& point,
                                             const Target& target, const std::vector<std::string>& others = {},
                                             const Sizes& sizes = {});

// Prints all of them as one text, always with "def" lines and all knobs bound; replay_module_schedule() of it returns
// the same schedules.
std::string to_text(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules);

}  // namespace ferry::autoschedule
