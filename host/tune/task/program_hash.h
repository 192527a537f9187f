// Identifies what a schedule is tuned for: a program, the sizes of a call, and which of them are fixed in the code.
#pragma once

#include "ferry/hash.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule_text.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::tune {

// Returns a hash of what the program computes, with the types and sizes of its tensors, and of those of `sizes` that
// are sizes of the program. Names have no part in it, nor have messages and lines of the source, so that programs that
// differ in these alone share what was tuned. A size that is a number in the program is fixed in the code, and gives
// another hash than an open one of the same value. The hash does not depend on the machine.
Hash program_hash(const lang::Program& program, const std::map<std::string, std::int64_t>& sizes);

// Returns a hash of the text of a schedule.
Hash schedule_hash(const ScheduleText& schedule);

}  // namespace ferry::tune
