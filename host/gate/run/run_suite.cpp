#include "host/gate/run/run_suite.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "base/printable.h"
#include "host/gate/run/board_queue.h"
#include "host/gate/run/case_run.h"
#include "host/gate/verdict/decide.h"

namespace ferry::gate {

namespace {

std::int64_t now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::vector<std::string> names_of(const std::vector<GateBoard>& boards) {
  std::vector<std::string> names;
  for (const GateBoard& board : boards) {
    if (std::ranges::find(names, board.name) == names.end()) names.push_back(board.name);
  }
  return names;
}

// Returns an observer that several threads may use. Their progress would overwrite each other's.
Observer shared_observer(const Observer& observer, std::mutex& mutex) {
  Observer shared;
  shared.message = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    observer.tell(line);
  };
  shared.is_interrupted = [&] { return observer.must_end(); };
  return shared;
}

HistoryEntry entry_of(const CaseOutcome& outcome, const Report& report) {
  const CaseResult& result = outcome.result;
  HistoryEntry entry{report.started,  result.name,
                     outcome.target,  report.label,
                     result.verdict,  result.environment,
                     *outcome.module, {result.sides[0].seconds, result.sides[1].seconds},
                     result.change,   0};
  if (result.instructions) entry.instructions = result.instructions->counts[1];
  return entry;
}

void store_results(const SuiteRequest& request, const std::vector<CaseOutcome>& outcomes, const Report& report) {
  const bool is_good = exit_code(report) == 0 && !report.is_interrupted;
  Baseline changes;
  std::vector<HistoryEntry> history;
  for (const CaseOutcome& outcome : outcomes) {
    if (!outcome.module) continue;
    history.push_back(entry_of(outcome, report));
    const Verdict verdict = outcome.result.verdict;
    const bool is_new = verdict == Verdict::first || outcome.result.is_accepted || (request.update && is_good);
    if (is_new && verdict != Verdict::unchanged) changes[{outcome.result.name, outcome.target}] = *outcome.module;
  }
  if (!history.empty()) request.store.add_history(request.suite.name, history);
  if (!changes.empty()) request.store.update(request.suite.name, request.baseline, changes);
}

}  // namespace

Report run_suite(const SuiteRequest& request, const Observer& observer) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  report.suite = request.suite.name;
  report.baseline = request.baseline;
  report.label = request.label;
  report.started = now();
  report.unknown = request.suite.unknown;
  report.error_level = request.suite.error_level;

  const std::vector<std::string> boards = names_of(request.boards);
  const Baseline baseline = request.store.baseline(request.suite.name, request.baseline);
  std::mutex shared, told;
  const RunContext context{request.compiler,
                           request.store,
                           baseline,
                           request.label,
                           level_of_case(request.suite.error_level, request.suite.cases.size(), boards.size()),
                           request.suite.most_pairs,
                           shared};
  BoardQueue queue(request.suite, request.boards, boards, request.cases);
  if (request.boards.size() == 1) {
    queue.work(context, request.boards.front(), request.seed, observer);
  } else {
    const Observer threads_observer = shared_observer(observer, told);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < request.boards.size(); ++i) {
      threads.emplace_back([&, i] { queue.work(context, request.boards[i], request.seed + i + 1, threads_observer); });
    }
  }
  std::vector<CaseOutcome> outcomes = queue.finish();
  for (CaseOutcome& outcome : outcomes) {
    outcome.result.is_accepted = request.accepted.contains(outcome.result.name) && outcome.module.has_value();
    report.cases.push_back(outcome.result);
    report.is_interrupted |= outcome.result.verdict == Verdict::interrupted;
  }
  store_results(request, outcomes, report);
  if (const std::string full = request.store.collect(); !full.empty()) observer.tell(full);
  report.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace ferry::gate
