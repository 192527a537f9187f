#include "host/gate/run/calibrate.h"

#include <chrono>
#include <cmath>

#include "base/quantity_text.h"
#include "host/bench/warnings.h"
#include "host/gate/run/compare_sides.h"
#include "host/kernel/compile_kernel.h"

namespace ferry::gate {

namespace {

// Sums products of numbers that stay in the first-level cache, in time proportional to the number of rounds.
constexpr const char* kKernel =
    "def spin(float(256) A, float(256) B, int rounds) -> (S) {\n"
    "  S +=! A(k) * B((k + r) % 256) where r in 0:rounds\n"
    "}\n";
constexpr int kRounds = 400;  // a slowdown of 0.25% is one round

SuiteCase spin_case(double slowdown) {
  SuiteCase spin;
  spin.name = "spin";
  spin.kernel.expression = kKernel;
  spin.kernel.schedule.file = kUnscheduled;
  spin.sampling.bench.threads = 1;
  spin.call.arguments = {"rounds=" + std::to_string(std::lround(kRounds * (1 + slowdown)))};
  return spin;
}

class Calibrator {
 public:
  Calibrator(const CalibrateRequest& request, const OpenSession& open, const Observer& observer)
      : request_(request), open_(open), observer_(observer), random_(request.seed), base_(spin_case(0)) {
    const KernelSource source = read_kernel(&request.compiler, base_.kernel, observer);
    const Device device = open({});
    if (bench::is_emulated(device.facts())) {
      throw UsageError("expected a board, got an emulated one: its times mean nothing, and instructions are exact");
    }
    const Target target = target_for(device, "", source, observer);
    module_.emplace(compile_kernel(source, "", target, {}, observer, 0, CodeForm::relinkable).module);
    measured_.emplace(MeasuredCase{request.compiler, {}, base_.sampling});
  }

  Calibration run() {
    Calibration found;
    for (const double slowdown : request_.slowdowns) {
      found.slowdowns.push_back(measure(slowdown, found));
      if (found.is_interrupted) break;
    }
    return found;
  }

 private:
  CalibratedSlowdown measure(double slowdown, Calibration& found) {
    CalibratedSlowdown all;
    all.slowdown = slowdown;
    const std::array<SideModule, 2> sides{plan_side(*module_, base_), plan_side(*module_, spin_case(slowdown))};
    const DecisionRule rule{request_.tolerance, request_.error_level, request_.most_pairs};
    std::vector<double> log_ratios;
    const auto start = std::chrono::steady_clock::now();
    std::uint32_t runs = 0;
    for (; runs < request_.runs; ++runs) {
      CaseResult result;
      result.name = "a slowdown of " + percent_text(slowdown) + ", run " + std::to_string(runs + 1) + " of " +
                    std::to_string(request_.runs);
      compare_sides(open_, *measured_, sides, rule, random_, observer_, result);
      found.is_interrupted = result.verdict == Verdict::interrupted;
      if (found.is_interrupted) break;
      found.environment = result.environment;
      count(result.verdict, all);
      for (const Pair& pair : result.pairs) log_ratios.push_back(pair.log_ratio);
    }
    if (runs == 0) return all;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    all.mean_seconds = took.count() / runs;
    all.mean_pairs = static_cast<double>(log_ratios.size()) / runs;
    double sum = 0, squares = 0;
    for (const double value : log_ratios) sum += value;
    const double mean = sum / static_cast<double>(log_ratios.size());
    for (const double value : log_ratios) squares += (value - mean) * (value - mean);
    all.mean_ratio = std::exp(mean);
    all.pair_deviation = std::sqrt(squares / static_cast<double>(log_ratios.size()));
    return all;
  }

  static void count(Verdict verdict, CalibratedSlowdown& all) {
    if (verdict == Verdict::slower) ++all.slower;
    if (verdict == Verdict::faster) ++all.faster;
    if (verdict == Verdict::no_change) ++all.no_change;
    if (verdict == Verdict::cannot_tell) ++all.cannot_tell;
  }

  const CalibrateRequest& request_;
  const OpenSession& open_;
  const Observer& observer_;
  stats::Random random_;
  const SuiteCase base_;
  std::optional<CompiledModule> module_;
  std::optional<MeasuredCase> measured_;
};

}  // namespace

Calibration calibrate(const CalibrateRequest& request, const OpenSession& open, const Observer& observer) {
  return Calibrator(request, open, observer).run();
}

}  // namespace ferry::gate
