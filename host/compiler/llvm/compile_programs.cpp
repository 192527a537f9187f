#include "host/compiler/llvm/compile_programs.h"

#include "crosscompile/compile.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"

namespace ferry {

std::vector<std::uint8_t> compile_programs(std::span<const lang::Program> programs,
                                           std::span<const schedule::Schedule> schedules, const Target& target,
                                           const std::string& source, CodeForm form) {
  return compile_module(lower::lower_module(programs, schedules), target,
                        {source, autoschedule::to_text(programs, schedules)}, {}, form);
}

}  // namespace ferry
