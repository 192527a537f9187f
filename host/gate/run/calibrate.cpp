#include "host/gate/run/calibrate.h"

#include <chrono>
#include <cmath>

#include "base/quantity_text.h"
#include "host/gate/run/compare_sides.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emulated.h"

namespace ferry::gate {

namespace {

constexpr int kRounds = 400;  // a slowdown of 0.25% is one round

// Sums products of numbers that stay in the first-level cache, in time proportional to the number of rounds. The
// additional ones are a part of the code, so that both sides are called with the same arguments, and use the same
// tensors, as the two sides of a case.
SuiteCase spin_case(int more_rounds) {
  SuiteCase spin;
  spin.name = "spin";
  spin.kernel.expression =
      "def spin(float(256) A, float(256) B, int rounds) -> (S) {\n"
      "  S +=! A(k) * B((k + r) % 256) where r in 0:rounds+" +
      std::to_string(more_rounds) + "\n}\n";
  spin.kernel.schedule.file = kUnscheduled;
  spin.sampling.bench.threads = 1;
  spin.call.arguments = {"rounds=" + std::to_string(kRounds)};
  return spin;
}

class Calibrator {
 public:
  Calibrator(const CalibrateRequest& request, const OpenSession& open, const Observer& observer)
      : request_(request), open_(open), observer_(observer), random_(request.seed) {
    const SuiteCase base = spin_case(0);
    source_ = read_kernel(&request.compiler, base.kernel, observer);
    const Device device = open({});
    if (is_emulated(device.facts())) {
      throw UsageError("expected a board, got an emulated one: its times mean nothing, and instructions are exact");
    }
    target_ = target_for(device, "", source_, observer);
    base_.emplace(side_of(base));
    measured_.emplace(MeasuredCase{{&request.compiler, {}, base.sampling}, request.measure});
  }

  Calibration run() {
    try {
      for (const double slowdown : request_.slowdowns) {
        measure(slowdown);
        if (found_.is_interrupted) break;
      }
    } catch (const std::exception&) {
      found_.failure = std::current_exception();
    }
    std::erase_if(found_.slowdowns, [](const CalibratedSlowdown& one) { return one.runs == 0; });
    return std::move(found_);
  }

 private:
  MeasuredSide side_of(const SuiteCase& spin) {
    source_ = read_kernel(&request_.compiler, spin.kernel, observer_);
    return plan_side(compile_kernel(source_, "", target_, {}, observer_, CodeForm::relinkable).module, spin);
  }

  void measure(double slowdown) {
    CalibratedSlowdown& all = found_.slowdowns.emplace_back();
    all.slowdown = slowdown;
    SuiteCase slower = spin_case(static_cast<int>(std::lround(kRounds * slowdown)));
    // Equal modules would be loaded once.
    slower.kernel.expression += "# the current side\n";
    const PerSide<MeasuredSide> sides{*base_, side_of(slower)};
    const DecisionRule rule{request_.tolerance, request_.error_level, request_.most_pairs};
    std::vector<double> log_ratios;
    const auto start = std::chrono::steady_clock::now();
    while (all.runs < request_.runs) {
      CaseResult result;
      result.name = "a slowdown of " + percent_text(slowdown) + ", run " + std::to_string(all.runs + 1) + " of " +
                    std::to_string(request_.runs);
      compare_sides(open_, *measured_, sides, rule, random_, observer_, result);
      found_.is_interrupted = result.verdict == Verdict::interrupted;
      if (found_.is_interrupted) return;
      ++all.runs;
      found_.environment = result.environment;
      count(result.verdict, all);
      for (const Pair& pair : result.pairs) log_ratios.push_back(pair.log_ratio);
      summarize(log_ratios, std::chrono::steady_clock::now() - start, all);
    }
  }

  static void summarize(const std::vector<double>& log_ratios, std::chrono::duration<double> took,
                        CalibratedSlowdown& all) {
    const auto count = static_cast<double>(log_ratios.size());
    all.mean_seconds = took.count() / all.runs;
    all.mean_pairs = count / all.runs;
    double sum = 0, squares = 0;
    for (const double value : log_ratios) sum += value;
    const double mean = sum / count;
    for (const double value : log_ratios) squares += (value - mean) * (value - mean);
    all.mean_ratio = std::exp(mean);
    all.pair_deviation = std::sqrt(squares / count);
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
  KernelSource source_;
  Target target_;
  std::optional<MeasuredSide> base_;
  std::optional<MeasuredCase> measured_;
  Calibration found_;
};

}  // namespace

Calibration calibrate(const CalibrateRequest& request, const OpenSession& open, const Observer& observer) {
  return Calibrator(request, open, observer).run();
}

}  // namespace ferry::gate
