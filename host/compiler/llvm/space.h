// Prints what the default schedules of a kernel choose from.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "ferry/target/target.h"
#include "host/autoschedule/decisions.h"

namespace ferry {

struct FunctionSpace {
  std::string function;
  std::vector<autoschedule::Decision> decisions;  // those of the default schedule
};

std::vector<FunctionSpace> spaces_of(std::span<const lang::Program> programs, const Target& target,
                                     const autoschedule::Sizes& sizes);

// A line "def NAME" with the number of schedules, then each decision with its knobs.
std::string space_text(std::span<const FunctionSpace> spaces);

// The same for programs: a JSON array with an entry for each function.
std::string space_json(std::span<const FunctionSpace> spaces);

}  // namespace ferry
