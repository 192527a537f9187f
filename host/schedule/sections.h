// One schedule text for the functions of one kernel text: a line "def NAME" begins the directives of that function.
//
//     def mm
//     C: split m $rows in {4,8}
//     C: parallel m.outer
//
//     def add
//     parallel i
//
// A text without such lines is for the one function that is compiled. A function without a section gets the default
// schedule; a section without directives is serial loops in the order of the definition.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"
#include "host/schedule/schedule_text.h"
#include "host/schedule/sized_stages.h"

#include <span>
#include <string>
#include <vector>

namespace ferry::schedule {

// One schedule a program. `others`: names of functions that the text may have sections for although they are not among
// the programs. CompileError with file and line.
std::vector<Schedule> replay_sections(std::span<const lang::Program> programs, const ScheduleText& text,
                                      const Target& target, const std::vector<std::string>& others = {},
                                      const Sizes& sizes = {});

// `sizes` as default_schedule() takes them.
std::vector<Schedule> default_schedules(std::span<const lang::Program> programs, const Target& target,
                                        const Sizes& sizes = {});

// All of them as one text, always with "def" lines, every knob bound: replay_sections() gives the same schedules again.
std::string to_text(std::span<const lang::Program> programs, std::span<const Schedule> schedules);

}  // namespace ferry::schedule
