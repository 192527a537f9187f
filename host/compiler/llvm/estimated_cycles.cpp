#include "host/compiler/llvm/estimated_cycles.h"

#include <span>
#include <utility>
#include <vector>

#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/cost/core.h"
#include "crosscompile/cost/estimate.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/pipeline.h"
#include "host/compiler/llvm/scheduled_programs.h"
#include "host/lower/lower.h"

namespace ferry {

namespace {

bool is_modelled(const Target& target, const SizesByName& sizes) {
  return target.is_for_cpu() && !target.is_source && sizes.empty();
}

std::optional<double> lowered_cycles(std::span<const lang::Program> programs,
                                     std::span<const schedule::Schedule> schedules, const Target& target,
                                     std::uint32_t threads) {
  double cycles = 0;
  for (const ir::Function& function : lower::lower_module(programs, schedules)) {
    if (!function.symbols.empty()) return std::nullopt;
    // Init functions run once for each instance.
    if (function.init_of.empty()) cycles += cost::estimate(function, target, threads).cycles;
  }
  return cycles;
}

class LoweredPoint final : public DecidedPoint {
 public:
  LoweredPoint(lang::Program program, schedule::Schedule schedule, const Target& target)
      : program_(std::move(program)), schedule_(std::move(schedule)), target_(target) {}

  std::optional<double> estimated_cycles(std::uint32_t threads) const override {
    try {
      return lowered_cycles(std::span(&program_, 1), std::span(&schedule_, 1), target_, threads);
    } catch (const CompileError&) {
      return std::nullopt;
    }
  }

 private:
  lang::Program program_;
  schedule::Schedule schedule_;
  Target target_;
};

}  // namespace

std::optional<double> cycles_of(const Scheduled& scheduled, const Target& target, std::uint32_t threads) {
  if (!is_modelled(target, scheduled.sizes)) return std::nullopt;
  try {
    const ScheduledPrograms all = scheduled_programs(scheduled, target, false);
    return lowered_cycles(all.programs, all.schedules, target, threads);
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

std::optional<double> code_cycles_of(const Scheduled& scheduled, const Target& target, std::uint32_t threads) {
  const cost::Core core = cost::core_of(target);
  if (!is_modelled(target, scheduled.sizes) || core.scheduling_model.empty()) return std::nullopt;
  const codegen::CoreModel model{core.scheduling_model, [&](double trips) { return core.loop_cycles(trips); }};
  try {
    const ScheduledPrograms all = scheduled_programs(scheduled, target, false);
    double cycles = 0;
    for (const ir::Function& function : lower::lower_module(all.programs, all.schedules)) {
      if (!function.symbols.empty()) return std::nullopt;
      if (!function.init_of.empty()) continue;
      const std::optional<double> code = codegen::code_cycles(passes::run_pipeline(function, target), target, model);
      if (!code) return std::nullopt;
      cycles += cost::with_compute_cycles(cost::estimate(function, target, threads), *code).cycles;
    }
    return cycles;
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

std::shared_ptr<const DecidedPoint> decided_point(lang::Program program, schedule::Schedule schedule,
                                                  const SizesByName& sizes, const Target& target) {
  if (!is_modelled(target, sizes)) return nullptr;
  return std::make_shared<const LoweredPoint>(std::move(program), std::move(schedule), target);
}

}  // namespace ferry
