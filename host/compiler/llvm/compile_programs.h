// Compiles programs with their schedules to a .ferry file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "crosscompile/target/code_form.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"

namespace ferry {

// Takes one schedule for each program. `source` is stored in the module for people to read; form as of
// compile_module().
std::vector<std::uint8_t> compile_programs(std::span<const lang::Program> programs,
                                           std::span<const schedule::Schedule> schedules, const Target& target,
                                           const std::string& source, CodeForm form = CodeForm::linked);

}  // namespace ferry
