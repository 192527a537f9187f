#include "host/compiler/llvm/estimated_cycles.h"

#include <vector>

#include "crosscompile/cost/estimate.h"
#include "crosscompile/ir/error.h"
#include "host/compiler/llvm/scheduled_programs.h"
#include "host/lower/lower.h"

namespace ferry {

std::optional<double> cycles_of(const Scheduled& scheduled, const Target& target, std::uint32_t threads) {
  if (!target.is_for_cpu() || target.is_source || !scheduled.sizes.empty()) return std::nullopt;
  try {
    const ScheduledPrograms all = scheduled_programs(scheduled, target, false);
    double cycles = 0;
    for (const ir::Function& function : lower::lower_module(all.programs, all.schedules)) {
      if (!function.symbols.empty()) return std::nullopt;
      // Init functions run once for each instance.
      if (function.init_of.empty()) cycles += cost::estimate(function, target, threads).cycles;
    }
    return cycles;
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

}  // namespace ferry
