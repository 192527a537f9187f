// What a user should know of a schedule of his own beyond whether it is legal.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

#include <span>

namespace ferry::cli {

// Notes on standard error: directives that the compiler cannot carry out on this target.
void print_schedule_notes(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                          const Target& target);

}  // namespace ferry::cli
