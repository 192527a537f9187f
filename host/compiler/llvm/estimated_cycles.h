// The cost model's estimate for a scheduled program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/compiler/api/compiler.h"

namespace ferry {

// As KernelCompiler::estimated_cycles().
std::optional<double> cycles_of(const Scheduled& scheduled, const Target& target, std::uint32_t threads);
// As KernelCompiler::code_cycles().
std::optional<double> code_cycles_of(const Scheduled& scheduled, const Target& target, std::uint32_t threads);
// The same as cycles_of() for a program and the schedule that was decided on for it; null if there is no model for the
// target or for open sizes. `sizes` are as in Scheduled.
std::shared_ptr<const DecidedPoint> decided_point(lang::Program program, schedule::Schedule schedule,
                                                  const SizesByName& sizes, const Target& target);

}  // namespace ferry
