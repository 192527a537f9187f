// Notes about a user's schedule that is legal but not fully effective.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

#include <span>

namespace ferry::cli {

// Prints notes on standard error about directives that the compiler cannot implement on this target.
void print_schedule_notes(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                          const Target& target);

}  // namespace ferry::cli
