#include "host/gate/run/run_suite.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "base/printable.h"
#include "base/suggest.h"
#include "base/unix_time.h"
#include "host/gate/run/board_queue.h"
#include "host/gate/run/case_run.h"
#include "host/gate/verdict/decide.h"

namespace ferry::gate {

namespace {

std::vector<std::string> names_of(const std::vector<GateBoard>& boards) {
  std::vector<std::string> names;
  for (const GateBoard& board : boards) {
    if (std::ranges::find(names, board.name) == names.end()) names.push_back(board.name);
  }
  return names;
}

// Releases what an observer has returned while no other thread calls it.
class SharedGuard {
 public:
  SharedGuard(StepGuard guard, std::mutex& mutex) : guard_(std::move(guard)), mutex_(mutex) {}
  ~SharedGuard() {
    const std::lock_guard lock(mutex_);
    guard_.reset();
  }
  SharedGuard(const SharedGuard&) = delete;
  SharedGuard& operator=(const SharedGuard&) = delete;

 private:
  StepGuard guard_;
  std::mutex& mutex_;
};

// Returns an observer that several threads may use, one at a time. It has no steps, since their progress would
// overwrite each other's.
Observer shared_observer(const Observer& observer, std::mutex& mutex) {
  Observer shared;
  shared.message = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    observer.tell(line);
  };
  shared.compilation = [&](const std::string& file) {
    const std::lock_guard lock(mutex);
    return std::make_shared<SharedGuard>(observer.begin_compilation(file), mutex);
  };
  shared.is_interrupted = [&] {
    const std::lock_guard lock(mutex);
    return observer.must_end();
  };
  return shared;
}

HistoryEntry entry_of(const CaseOutcome& outcome, const Report& report) {
  const CaseResult& result = outcome.result;
  HistoryEntry entry{report.started,  result.name,
                     outcome.target,  report.label,
                     result.verdict,  result.environment,
                     *outcome.module, {result.sides[Side::baseline].seconds, result.sides[Side::current].seconds},
                     result.change,   0,
                     result.method};
  if (result.instructions) entry.instructions = result.instructions->counts[Side::current];
  return entry;
}

// Whether the module runs, and computes what it should.
bool may_become_baseline(const CaseResult& result) {
  switch (result.verdict) {
    case Verdict::unchanged:
    case Verdict::first:
    case Verdict::no_change:
    case Verdict::faster:
    case Verdict::infrastructure: return true;
    case Verdict::slower:
    case Verdict::cannot_tell:
    case Verdict::wrong:
    case Verdict::over_limit:
    case Verdict::failed:
    case Verdict::interrupted: return result.is_accepted;
  }
  return false;
}

// Only a module that was called and did not fail.
bool can_be_accepted(const CaseOutcome& outcome) {
  return outcome.module.has_value() && outcome.has_run && outcome.result.verdict != Verdict::interrupted;
}

// A name that was mistyped would store a baseline of its own, and let every change pass once.
void expect_no_typo(const std::string& baseline, const std::vector<std::string>& known) {
  const std::string similar = likely_meant(baseline, known);
  if (similar.empty()) return;
  throw UsageError("--baseline: the suite has no baseline '" + printable(baseline) + "'; did you mean '" +
                   printable(similar) + "'? --update stores a new one of this name");
}

// Returns the cases of the baseline that the suite has under no name, neither their own nor an earlier one.
std::vector<CaseTarget> missing_cases(const Baseline& baseline, const Suite& suite) {
  std::set<std::string> names;
  for (const SuiteCase& one : suite.cases) names.insert({one.name, one.was});
  std::vector<CaseTarget> missing;
  for (const auto& [key, module] : baseline) {
    if (!names.contains(key.name)) missing.push_back(key);
  }
  return missing;
}

// Returns their names, sorted, each once.
std::vector<std::string> names_of(const std::vector<CaseTarget>& cases) {
  std::set<std::string> names;
  for (const CaseTarget& one : cases) names.insert(one.name);
  return {names.begin(), names.end()};
}

// The modules that become the baseline after a run, and why; an entry for each outcome.
struct NewModules {
  Baseline modules;
  std::vector<NewBaseline> reasons;
};

// `updates`: the user asked for an update, and nothing is wrong with the run.
NewModules new_modules(const std::vector<CaseOutcome>& outcomes, bool updates) {
  // Boards of different names may have the same target: what failed on one of them does not become the baseline.
  std::set<CaseTarget> bad;
  for (const CaseOutcome& outcome : outcomes) {
    if (!may_become_baseline(outcome.result)) bad.insert({outcome.result.name, outcome.target});
  }
  NewModules result{{}, std::vector<NewBaseline>(outcomes.size(), NewBaseline::none)};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const CaseOutcome& outcome = outcomes[i];
    if (!outcome.module) continue;
    const CaseTarget key{outcome.result.name, outcome.target};
    const Verdict verdict = outcome.result.verdict;
    // A case that was renamed gets a baseline under its own name also if it did not change.
    const bool was_compared = verdict == Verdict::no_change || verdict == Verdict::faster ||
                              (verdict == Verdict::unchanged && outcome.is_renamed);
    const bool is_new = verdict == Verdict::first || (updates && was_compared);
    if (!outcome.result.is_accepted && (!is_new || bad.contains(key))) continue;
    // Under a new name, the module of somebody else would become that of this run.
    if (verdict == Verdict::unchanged && outcome.is_renamed && !outcome.module->holder.empty()) continue;
    // That of somebody else is the baseline already, and stays his.
    if (outcome.module->holder.empty()) result.modules[key] = *outcome.module;
    result.reasons[i] = outcome.result.is_accepted  ? NewBaseline::accepted
                        : verdict == Verdict::first ? NewBaseline::first
                                                    : NewBaseline::updated;
  }
  return result;
}

// Adds the run to the history, updates the baseline, and notes in the report what became of each module.
void store_results(const SuiteRequest& request, const std::vector<CaseOutcome>& outcomes, Report& report) {
  const bool updates = request.update && exit_code(report) == 0 && !report.is_interrupted;
  const NewModules modules = new_modules(outcomes, updates);
  std::vector<HistoryEntry> history;
  for (const CaseOutcome& outcome : outcomes)
    if (outcome.module) history.push_back(entry_of(outcome, report));
  if (!history.empty()) request.store.add_history(request.suite.name, history);
  if (updates && !report.missing.empty()) {
    report.forgotten = request.store.forget_cases(request.suite.name, request.baseline,
                                                  {report.missing.begin(), report.missing.end()});
  }
  if (std::ranges::all_of(modules.reasons, [](NewBaseline reason) { return reason == NewBaseline::none; })) return;
  if (!modules.modules.empty()) request.store.update(request.suite.name, request.baseline, modules.modules);
  // Runs of several commits may end in any order, and the store decides whose modules stay.
  const Baseline stored = request.store.baseline(request.suite.name, request.baseline);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (modules.reasons[i] == NewBaseline::none) continue;
    const auto found = stored.find({outcomes[i].result.name, outcomes[i].target});
    const bool is_ours = found != stored.end() && found->second.module == outcomes[i].module->module;
    report.cases[i].new_baseline = is_ours ? modules.reasons[i] : NewBaseline::outdated;
  }
}

Report run_cases(const SuiteRequest& request, const Baseline& baseline, const RunCase& run_case,
                 const Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.suite = request.suite.name;
  report.baseline = request.baseline;
  report.label = request.label;
  report.started = unix_milliseconds() / 1000;
  report.unknown = request.suite.unknown;
  report.error_level = request.suite.error_level;
  report.is_update = request.update;
  report.missing = names_of(missing_cases(baseline, request.suite));
  report.missing_policy = request.missing;
  report.to_accept.assign(request.accepted.begin(), request.accepted.end());

  BoardQueue queue(request.suite, request.boards, names_of(request.boards), request.cases);
  if (request.boards.size() == 1) {
    queue.work(run_case, request.boards.front(), request.seed, observer);
  } else {
    std::mutex told;
    const Observer threads_observer = shared_observer(observer, told);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < request.boards.size(); ++i) {
      threads.emplace_back([&, i] { queue.work(run_case, request.boards[i], request.seed + i + 1, threads_observer); });
    }
  }
  std::vector<CaseOutcome> outcomes = queue.finish();
  for (CaseOutcome& outcome : outcomes) {
    CaseResult& result = outcome.result;
    result.is_accepted = request.accepted.contains(result.name) && can_be_accepted(outcome);
    if (result.is_accepted)
      result.reason += (result.reason.empty() ? "" : "; ") + std::string("accepted as the baseline");
    report.cases.push_back(outcome.result);
    report.is_interrupted |= outcome.result.verdict == Verdict::interrupted;
  }
  try {
    store_results(request, outcomes, report);
    // A run that has stored nothing needs no room, and its key may be one that only reads.
    const bool has_stored =
        std::ranges::any_of(outcomes, [](const CaseOutcome& one) { return one.module.has_value(); });
    const std::string full = has_stored ? request.store.collect() : "";
    if (!full.empty()) observer.tell(full);
  } catch (const std::exception& error) {
    report.store_failure = error.what();
    observer.tell("the results could not be stored: " + report.store_failure);
  }
  report.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace

Report run_suite(const SuiteRequest& request, const RunCase& run_case, const Observer& observer) {
  return run_cases(request, request.store.baseline(request.suite.name, request.baseline), run_case, observer);
}

Report run_suite(const SuiteRequest& request, const Observer& observer) {
  const Baseline baseline = request.store.baseline(request.suite.name, request.baseline);
  std::vector<std::string> other_baselines;
  if (baseline.empty()) {
    other_baselines = request.store.baseline_names(request.suite.name);
    std::erase(other_baselines, request.baseline);
    if (!request.update) expect_no_typo(request.baseline, other_baselines);
  }
  const std::size_t boards = names_of(request.boards).size();
  std::mutex shared;
  const RunContext context{request.compiler,
                           request.store,
                           baseline,
                           request.label,
                           level_of_case(request.suite.error_level, request.suite.cases.size(), boards),
                           request.suite.most_pairs,
                           shared,
                           request.suite.file,
                           request.trust,
                           missing_cases(baseline, request.suite),
                           measure_pair,
                           request.tuned};
  Report report = run_cases(
      request, baseline,
      [&](const SuiteCase& suite_case, OpenBoard& board, stats::Random& random, const Observer& told) {
        return run_case(context, suite_case, board, random, told);
      },
      observer);
  report.other_baselines = std::move(other_baselines);
  return report;
}

}  // namespace ferry::gate
