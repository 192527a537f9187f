// Notes about a user's schedule that is legal but not fully effective.
#pragma once

#include <span>

#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/kernel/observer.h"

namespace ferry {

// Tells the observer about directives that the compiler cannot implement on this target.
void tell_schedule_notes(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                         const Target& target, const Observer& observer);

}  // namespace ferry
