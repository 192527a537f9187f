// A program's stages as they are at certain sizes: what to decide a schedule by when the sizes of the calls are known.
#pragma once

#include "host/lang/program.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::schedule {

// By the names of sizes and int64 scalars; names the program does not have are ignored.
using Sizes = std::map<std::string, std::int64_t>;

// The stages of the program with these numbers in the place of their symbols. Names stay, so that what is legal for one
// is legal for the other, except where only a constant will do.
Stages stages_at(const lang::Program& program, const Sizes& sizes);

}  // namespace ferry::schedule
