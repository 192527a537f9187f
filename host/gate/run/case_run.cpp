#include "host/gate/run/case_run.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/gate/run/check_results.h"
#include "host/gate/run/compare_sides.h"
#include "host/gate/run/count_sides.h"
#include "host/gate/run/current_limits.h"
#include "host/gate/run/explain.h"
#include "host/gate/run/find_failed_side.h"
#include "host/gate/run/inputs_text.h"
#include "host/gate/run/measure_pair.h"
#include "host/gate/run/seconds_alone.h"
#include "host/gate/run/stored_module.h"
#include "host/gate/run/suite_mistake.h"
#include "host/gate/verdict/decide.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/source_identity.h"
#include "host/lang/whole_reads.h"
#include "host/measure/code_layout.h"
#include "host/measure/warnings.h"

namespace ferry::gate {

namespace {

// After this time a change of a file has another time.
constexpr std::chrono::milliseconds kClockOfFiles{100};
// More names than these would help nobody to remember a renamed case.
constexpr std::size_t kMostLostNames = 3;

class CaseRun {
 public:
  CaseRun(const RunContext& context, const SuiteCase& suite_case, OpenBoard& board, stats::Random& random,
          const Observer& observer)
      : context_(context),
        case_(suite_case),
        board_(board),
        open_(board.sessions()),
        random_(random),
        observer_(observer) {
    result_.name = case_.name;
    result_.tolerance = case_.tolerance;
    result_.limits = case_.limits;
    result_.method.seed = case_.call.seed;
  }

  CaseOutcome run() {
    try {
      judge();
    } catch (const SideFailed& failure) {
      conclude_failure(failure);
    } catch (const StoreFailed&) {
      throw;
    } catch (const BoardRefused&) {
      throw;
    } catch (const OptionError& error) {
      conclude(Verdict::failed, suite_mistake(context_.suite_file, case_, error));
    } catch (const Error& error) {
      // Mistakes of the kernel and of the suite.
      if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::not_found) throw;
      conclude(Verdict::failed, error.what());
    }
    return std::move(outcome_);
  }

 private:
  void judge() {
    if (!case_.missing_file.empty()) return conclude(Verdict::failed, case_.missing_file);
    resolve();
    const auto baseline = find_baseline();
    const bool has_baseline = baseline != context_.baseline.end();
    if (has_baseline && baseline->second.identity == identity_.hash) {
      // If the store has lost the module, it has it again once it is compiled.
      if (!find_unchanged(baseline->second)) compile();
      return conclude_unchanged(
          "the source, or the object that it compiles to, and the compiler are those of the baseline");
    }
    compile();
    if (!has_baseline) return run_first();
    if (!load(baseline->second)) {
      call_once(open_, *measured_, *current_, Side::current, *source_, observer_);
      outcome_.has_run = true;
      return;
    }
    if (is_same_code()) return conclude_unchanged("the compiled code is that of the baseline");
    expect_trust(baseline->second);
    verify::ParameterPairs pairs;
    MeasuredSide planned = plan_same_side(std::move(*baseline_module_), case_, *current_, pairs);
    PerSide<MeasuredSide>& sides = sides_.emplace(PerSide<MeasuredSide>{std::move(planned), *current_});
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

  // A case that was renamed has the baseline of its earlier name until it has one of its own.
  Baseline::const_iterator find_baseline() {
    const auto own = context_.baseline.find({case_.name, outcome_.target});
    if (own != context_.baseline.end() || case_.was.empty()) return own;
    const auto earlier = context_.baseline.find({case_.was, outcome_.target});
    outcome_.is_renamed = earlier != context_.baseline.end();
    return earlier;
  }

  // Compares results and times. Returns false if the results already decide.
  bool judge_sides(PerSide<MeasuredSide>& sides, const verify::ParameterPairs& pairs) {
    if (!case_.allow_difference) {
      const StepGuard step = observer_.begin("comparing the results of " + case_.name);
      const std::string difference =
          difference_of(open_, *measured_, sides, pairs, *source_, case_, observer_, result_.warnings);
      outcome_.has_run = true;
      if (!difference.empty()) {
        conclude(Verdict::wrong, difference);
        return false;
      }
    } else {
      call_once(open_, *measured_, sides[Side::baseline], Side::baseline, *source_, observer_);
      call_once(open_, *measured_, sides[Side::current], Side::current, *source_, observer_);
    }
    outcome_.has_run = true;
    // The pairs begin with the parameters of the current side, and a paired run with those of the baseline.
    for (const auto& [current, baseline] : pairs) measured_->pairs.emplace_back(baseline, current);
    measured_->limits = case_.results;
    if (is_emulated_) {
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

  // Finds out for which target the case is compiled, and from what.
  void resolve() {
    {
      const std::lock_guard lock(context_.shared);
      source_ = read_kernel(&context_.compiler, case_.kernel, observer_);
    }
    const std::vector<std::string> devices = devices_for(case_.target, *source_);
    const BoardFacts& board = board_.facts(devices);  // without the lock, since a farm may let it wait
    const std::lock_guard lock(context_.shared);
    target_ = target_for(board.facts, case_.target, *source_, observer_);
    outcome_.target = target_.text;
    is_emulated_ = bench::is_emulated(board.facts);
    result_.environment = board.environment;
    measured_.emplace(
        MeasuredCase{{&context_.compiler, devices, case_.sampling, !case_.allow_difference}, context_.measure});
    std::optional<SourceIdentity> identity = identify();
    if (!identity) {
      // A network that was written a moment ago could be written again without another time of change.
      std::this_thread::sleep_for(kClockOfFiles);
      source_ = read_kernel(&context_.compiler, case_.kernel, observer_);
      identity = identify();
    }
    if (!identity) throw UsageError(source_->name + " changes while it is read");
    identity_ = std::move(*identity);
  }

  std::optional<SourceIdentity> identify() const {
    return source_identity(*source_, case_.kernel.function, target_, case_.call, observer_);
  }

  void compile() {
    const std::lock_guard lock(context_.shared);
    if (!identity_.module)
      identity_.module =
          compile_kernel(*source_, case_.kernel.function, target_, case_.call, observer_, CodeForm::relinkable).module;
    CompiledModule module = *std::exchange(identity_.module, std::nullopt);
    const StepGuard step = observer_.begin("storing the module of " + case_.name);
    StoredModule stored = store_module(context_.store, module, identity_.hash, context_.label);
    current_.emplace(plan_side(std::move(module), case_));
    if (has_definition(*source_)) current_->whole_reads = lang::whole_reads(program_of(*source_, current_->info.name));
    result_.inputs = inputs_text(current_->info, current_->plan, case_.call);
    describe(Side::current, stored, current_->module);
    outcome_.module = std::move(stored);
  }

  // Takes the baseline's module as the current one. Returns false if the store does not have all of it, undamaged.
  bool find_unchanged(const StoredModule& stored) {
    const std::lock_guard lock(context_.shared);
    try {
      const std::optional<CompiledModule> module = load_module(context_.store, stored);
      if (!module) return false;
      // Inputs may be mistaken that the identity does not know of.
      const MeasuredSide side = plan_side(*module, case_);
      result_.inputs = inputs_text(side.info, side.plan, case_.call);
      describe(Side::baseline, stored, *module);
      describe(Side::current, stored, *module);
      result_.sides[Side::current].label = context_.label;
    } catch (const StoreFailed&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      return false;  // damaged
    }
    outcome_.module = stored;
    return true;
  }

  // Reads the baseline's module. Concludes the case if the store has lost it.
  bool load(const StoredModule& stored) {
    const std::lock_guard lock(context_.shared);
    const StepGuard step = observer_.begin("reading the baseline's module of " + case_.name);
    std::string why = "the store has lost the baseline's module " + to_hex(stored.module);
    try {
      baseline_module_ = load_module(context_.store, stored);
      if (baseline_module_) {
        describe(Side::baseline, stored, *baseline_module_);
        bench::module_in_layout(&context_.compiler, *baseline_module_, 0);  // shows damage that its hash does not
        return true;
      }
    } catch (const StoreFailed&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      why = error.what();
    }
    conclude(Verdict::cannot_tell, why + "; --accept " + case_.name + " makes the current module the baseline");
    return false;
  }

  // Notes whose module is about to run, and asks whether it may if that is on this machine.
  void expect_trust(const StoredModule& stored) {
    const std::lock_guard lock(context_.shared);
    const std::string holder = context_.store.holder_of(stored);
    result_.sides[Side::baseline].holder = holder;
    if (!holder.empty() && board_.is_here() && context_.trust)
      context_.trust(holder, "the baseline's module of " + case_.name);
  }

  bool is_same_code() const {
    const std::lock_guard lock(context_.shared);
    return context_.compiler.code_identity(baseline_module_->bytes()) ==
           context_.compiler.code_identity(current_->module.bytes());
  }

  void describe(Side side, const StoredModule& stored, const CompiledModule& module) {
    const ModuleBytes bytes = bytes_of(module);
    result_.sides[side] = {stored.module, stored.label, bytes.code, bytes.data, 0};
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
    if (!case_.allow_difference && has_definition(*source_)) {
      const StepGuard step = observer_.begin("checking the results of " + case_.name);
      mistake = mistake_of(open_, *measured_, *current_, *source_, case_, observer_, result_.warnings);
    } else {
      call_once(open_, *measured_, *current_, Side::current, *source_, observer_,
                case_.allow_difference ? nullptr : &result_.warnings);
    }
    outcome_.has_run = true;
    return mistake;
  }

  // A case without a baseline: the kernel must run and compute what it should, within its limits.
  void run_first() {
    if (const std::string mistake = call_first(); !mistake.empty()) return conclude(Verdict::wrong, mistake);
    if (case_.limits.seconds && !is_emulated_) {
      result_.sides[Side::current].seconds = seconds_alone(open_, *measured_, *current_, random_, observer_);
    }
    conclude(Verdict::first, "there was no baseline" + rename_hint());
    check_limits();
  }

  // A case under a new name lets every change pass once, so names that the suite has lost are worth a question.
  std::string rename_hint() const {
    std::vector<std::string> lost;
    for (const CaseTarget& key : context_.lost_cases) {
      if (key.target == outcome_.target) lost.push_back(printable(key.name));
    }
    if (lost.empty() || lost.size() > kMostLostNames) return "";
    return "; the baseline has " + join(", ", lost) +
           ", which the suite has no more: if this case was renamed, was = \"" + lost.front() +
           "\" compares it with that module";
  }

  void check_limits() {
    if (result_.verdict == Verdict::interrupted) return;
    if (case_.limits.share_of_peak && !is_emulated_) {
      result_.share_of_peak = share_of_peak(open_, *measured_, *current_, observer_);
      if (!result_.share_of_peak)
        result_.warnings.push_back("the share of the peak is unknown, so its limit is not checked");
    }
    conclude_limits();
  }

  // Judges what is known of the current side. A slowdown is more than a limit.
  void conclude_limits() {
    const std::string beyond = beyond_limits(case_.limits, result_.sides[Side::current], result_.share_of_peak);
    if (beyond.empty()) return;
    if (result_.verdict == Verdict::slower) return conclude(Verdict::slower, "also over a limit: " + beyond);
    const std::string otherwise = to_text(result_.verdict) + (result_.reason.empty() ? "" : ", " + result_.reason);
    conclude(Verdict::over_limit, beyond + "; otherwise: " + otherwise);
  }

  // The size of the code is known without a run.
  void conclude_unchanged(const char* reason) {
    conclude(Verdict::unchanged, reason);
    conclude_limits();
  }

  void conclude_failure(const SideFailed& failure) {
    // A module that may have failed is not accepted as a baseline either.
    if (failure.side() != Side::baseline) outcome_.has_run = false;
    if (!failure.side()) return conclude(Verdict::cannot_tell, failure.what());
    switch (*failure.side()) {
      case Side::baseline:
        return conclude(Verdict::cannot_tell, "the baseline's kernel fails: " + std::string(failure.what()));
      case Side::current:
        if (sides_) explain_difference();
        return conclude(Verdict::wrong, failure.what());
    }
  }

  void conclude(Verdict verdict, std::string reason) {
    result_.verdict = verdict;
    result_.reason = std::move(reason);
  }

  const RunContext& context_;
  const SuiteCase& case_;
  OpenBoard& board_;
  const OpenSession& open_;
  stats::Random& random_;
  const Observer& observer_;
  std::optional<KernelSource> source_;
  Target target_;
  SourceIdentity identity_;  // with the module until it is stored
  bool is_emulated_ = false;
  std::optional<MeasuredCase> measured_;
  std::optional<CompiledModule> baseline_module_;
  std::optional<MeasuredSide> current_;
  std::optional<PerSide<MeasuredSide>> sides_;
  CaseOutcome outcome_;
  CaseResult& result_ = outcome_.result;
};

}  // namespace

CaseOutcome run_case(const RunContext& context, const SuiteCase& suite_case, OpenBoard& board, stats::Random& random,
                     const Observer& observer) {
  return CaseRun(context, suite_case, board, random, observer).run();
}

}  // namespace ferry::gate
