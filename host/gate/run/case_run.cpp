#include "host/gate/run/case_run.h"

#include <optional>
#include <utility>

#include "host/gate/run/case_modules.h"
#include "host/gate/run/check_results.h"
#include "host/gate/run/compare_sides.h"
#include "host/gate/run/conclude.h"
#include "host/gate/run/count_sides.h"
#include "host/gate/run/current_limits.h"
#include "host/gate/run/explain.h"
#include "host/gate/run/find_failed_side.h"
#include "host/gate/run/measure_pair.h"
#include "host/gate/run/seconds_alone.h"
#include "host/gate/run/suite_mistake.h"
#include "host/gate/verdict/decide.h"
#include "host/kernel/kernel_failure.h"

namespace ferry::gate {
namespace {

class CaseRun {
 public:
  CaseRun(const RunContext& context, const SuiteCase& suite_case, OpenBoard& board, stats::Random& random,
          const Observer& observer)
      : context_(context),
        case_(suite_case),
        open_(board.sessions()),
        random_(random),
        observer_(observer),
        modules_(context, suite_case, board, observer, outcome_) {
    result_.name = case_.name;
    result_.tolerance = case_.tolerance;
    result_.limits = case_.limits;
    result_.method.seed = case_.call.seed;
  }

  CaseOutcome run() {
    try {
      judge();
    } catch (const SideFailed& failure) {
      handle_failure(failure);
    } catch (const StoreFailed&) {
      throw;
    } catch (const BoardRefused&) {
      throw;
    } catch (const OptionError& error) {
      conclude(result_, Verdict::failed, suite_mistake(context_.suite_file, case_, error));
    } catch (const Error& error) {
      // Mistakes of the kernel and of the suite.
      if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::not_found) throw;
      conclude(result_, Verdict::failed, error.what());
    }
    return std::move(outcome_);
  }

 private:
  void judge() {
    if (!case_.missing_file.empty()) return conclude(result_, Verdict::failed, case_.missing_file);
    modules_.resolve();
    measured_.emplace(MeasuredCase{{&context_.compiler, modules_.devices(), case_.sampling, !case_.allow_difference},
                                   context_.measure});
    const StoredModule* const baseline = modules_.find_baseline();
    if (baseline != nullptr && modules_.has_identity_of(*baseline)) {
      // If the store has lost the module, it has it again once it is compiled.
      if (!modules_.find_unchanged(*baseline)) modules_.compile();
      return conclude_unchanged(
          "the source, or the object that it compiles to, and the compiler are those of the baseline");
    }
    modules_.compile();
    if (baseline == nullptr) return run_first();
    if (const auto lost = modules_.load_baseline(*baseline)) {
      conclude(result_, Verdict::cannot_tell,
               *lost + "; --accept " + case_.name + " makes the current module the baseline");
      call_once(open_, *measured_, modules_.current(), Side::current, modules_.source(), observer_);
      outcome_.has_run = true;
      return;
    }
    if (modules_.is_same_code()) return conclude_unchanged("the compiled code is that of the baseline");
    modules_.expect_trust(*baseline);
    verify::ParameterPairs pairs;
    PerSide<MeasuredSide>& sides = sides_.emplace(modules_.plan_sides(pairs));
    try {
      if (!judge_sides(sides, pairs)) return explain_difference();
    } catch (const Error& error) {
      if (!may_be_hang(error)) throw;
      const StepGuard step = observer_.begin("calling each side of " + case_.name + " alone, since one may hang");
      if (const auto failed = find_hanging_side(open_, *measured_, sides, observer_)) throw *failed;
      throw;
    }
    if (result_.verdict == Verdict::slower) explain_difference();
    check_limits();
  }

  // Adds how the modules of both sides differ, for who asks why the current one is slower or wrong.
  void explain_difference() {
    const std::lock_guard lock(context_.shared);
    explain(context_.compiler, *sides_, result_);
  }

  // Compares results and times. Returns false if the results already decide.
  bool judge_sides(PerSide<MeasuredSide>& sides, const verify::ParameterPairs& pairs) {
    if (!case_.allow_difference) {
      const StepGuard step = observer_.begin("comparing the results of " + case_.name);
      const std::string difference =
          difference_of(open_, *measured_, sides, pairs, modules_.source(), case_, observer_, result_.warnings);
      outcome_.has_run = true;
      if (!difference.empty()) {
        conclude(result_, Verdict::wrong, difference);
        return false;
      }
    } else {
      call_once(open_, *measured_, sides[Side::baseline], Side::baseline, modules_.source(), observer_);
      call_once(open_, *measured_, sides[Side::current], Side::current, modules_.source(), observer_);
    }
    outcome_.has_run = true;
    // The pairs begin with the parameters of the current side, and a paired run with those of the baseline.
    for (const auto& [current, baseline] : pairs) measured_->pairs.emplace_back(baseline, current);
    measured_->limits = case_.results;
    if (modules_.is_emulated()) {
      const StepGuard step = observer_.begin("counting the instructions of " + case_.name);
      judge_by_instructions(count_sides(open_, *measured_, sides, observer_), case_.tolerance, result_);
    } else {
      compare_sides(open_, *measured_, sides, {case_.tolerance, context_.level, context_.most_pairs}, random_,
                    observer_, result_);
      // Beside the time, as corroboration: not every board counts them.
      if (result_.verdict != Verdict::interrupted) count_beside(sides);
    }
    return true;
  }

  // Counts instructions beside a verdict about times, which stands without them.
  void count_beside(const PerSide<MeasuredSide>& sides) {
    try {
      result_.instructions = count_sides(open_, *measured_, sides, observer_).instructions;
    } catch (const Error& error) {
      result_.warnings.push_back("the instructions could not be counted: " + std::string(error.what()));
    }
  }

  // Calls the current side, and returns how its results differ from its definition, in a sentence; empty if they do not
  // or if there is nothing to compare them with.
  std::string call_first() {
    std::string mistake;
    if (!case_.allow_difference && has_definition(modules_.source())) {
      const StepGuard step = observer_.begin("checking the results of " + case_.name);
      mistake =
          mistake_of(open_, *measured_, modules_.current(), modules_.source(), case_, observer_, result_.warnings);
    } else {
      call_once(open_, *measured_, modules_.current(), Side::current, modules_.source(), observer_,
                case_.allow_difference ? nullptr : &result_.warnings);
    }
    outcome_.has_run = true;
    return mistake;
  }

  // A case without a baseline: the kernel must run and compute what it should, within its limits.
  void run_first() {
    if (const std::string mistake = call_first(); !mistake.empty()) return conclude(result_, Verdict::wrong, mistake);
    if (case_.limits.seconds && !modules_.is_emulated()) {
      result_.sides[Side::current].seconds = seconds_alone(open_, *measured_, modules_.current(), random_, observer_);
    }
    conclude(result_, Verdict::first, "there was no baseline" + rename_hint(context_.missing_cases, outcome_.target));
    check_limits();
  }

  void check_limits() {
    if (result_.verdict == Verdict::interrupted) return;
    if (case_.limits.share_of_peak && !modules_.is_emulated()) {
      result_.share_of_peak = share_of_peak(open_, *measured_, modules_.current(), observer_);
      if (!result_.share_of_peak)
        result_.warnings.push_back("the share of the peak is unknown, so its limit is not checked");
    }
    conclude_limits(result_, case_.limits);
  }

  // The size of the code is known without a run.
  void conclude_unchanged(const char* reason) {
    conclude(result_, Verdict::unchanged, reason);
    conclude_limits(result_, case_.limits);
  }

  void handle_failure(const SideFailed& failure) {
    // A module that may have failed is not accepted as a baseline either.
    if (failure.side() != Side::baseline) outcome_.has_run = false;
    if (failure.side() == Side::current && sides_) explain_difference();
    conclude_failure(result_, failure);
  }

  const RunContext& context_;
  const SuiteCase& case_;
  const OpenSession& open_;
  stats::Random& random_;
  const Observer& observer_;
  CaseOutcome outcome_;
  CaseResult& result_ = outcome_.result;
  CaseModules modules_;
  std::optional<MeasuredCase> measured_;
  std::optional<PerSide<MeasuredSide>> sides_;
};

}  // namespace

CaseOutcome run_case(const RunContext& context, const SuiteCase& suite_case, OpenBoard& board, stats::Random& random,
                     const Observer& observer) {
  return CaseRun(context, suite_case, board, random, observer).run();
}

}  // namespace ferry::gate
