#include "host/gate/run/bisect.h"

#include <algorithm>

#include "host/bench/warnings.h"
#include "host/gate/run/compare_sides.h"
#include "host/gate/run/count_sides.h"
#include "host/kernel/compile_kernel.h"

namespace ferry::gate {

namespace {

std::vector<HistoryEntry> of_target(std::vector<HistoryEntry> history, const std::string& target) {
  std::erase_if(history, [&](const HistoryEntry& entry) { return entry.target != target; });
  return history;
}

bool has_same_module(const HistoryEntry& a, const HistoryEntry& b) { return a.module.module == b.module.module; }

// Returns the first entry of each run of equal modules.
std::vector<HistoryEntry> distinct_modules(std::vector<HistoryEntry> history) {
  const auto repeated = std::ranges::unique(history, has_same_module);
  history.erase(repeated.begin(), repeated.end());
  return history;
}

// Returns the number of the run of equal modules that an entry belongs to.
std::size_t run_of(const std::vector<HistoryEntry>& history, std::size_t place) {
  std::size_t run = 0;
  for (std::size_t i = 1; i <= place; ++i) run += has_same_module(history[i - 1], history[i]) ? 0 : 1;
  return run;
}

bool is_named(const HistoryEntry& entry, const std::string& name) {
  return (!entry.label.empty() && entry.label.starts_with(name)) || to_hex(entry.module.module).starts_with(name);
}

// Returns the place of the last entry of this name.
std::size_t place_of(const std::vector<HistoryEntry>& history, const std::string& name, const std::string& suite_case) {
  for (std::size_t i = history.size(); i > 0; --i) {
    if (is_named(history[i - 1], name)) return i - 1;
  }
  throw UsageError("the history of " + suite_case + " has no commit '" + name + "'" +
                   (history.empty()
                        ? "; it is empty"
                        : "; it begins at " + history.front().label + " and ends at " + history.back().label));
}

std::string name_of(const HistoryEntry& entry) {
  return entry.label.empty() ? to_hex(entry.module.module).substr(0, 12) : entry.label;
}

class Bisector {
 public:
  Bisector(const BisectRequest& request, const OpenSession& open, const Observer& observer)
      : request_(request), open_(open), observer_(observer), random_(request.seed) {}

  Bisection run() {
    const std::string target = target_of_board();
    const SuiteCase& suite_case = request_.suite_case;
    const std::vector<HistoryEntry> all =
        of_target(request_.store.history(request_.suite.name, suite_case.name), target);
    history_ = distinct_modules(all);
    std::size_t good = run_of(all, place_of(all, request_.good, suite_case.name));
    std::size_t bad = run_of(all, place_of(all, request_.bad, suite_case.name));
    if (good >= bad) {
      throw UsageError("expected the good commit before the bad one, got " + name_of(history_[good]) +
                       " that is not before " + name_of(history_[bad]));
    }
    good_.emplace(plan_side(load(history_[good]), suite_case));
    if (!is_slower(bad)) return std::move(found_);
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      const bool slower = is_slower(middle);
      const Verdict verdict = found_.steps.back().result.verdict;
      if (verdict == Verdict::interrupted || verdict == Verdict::cannot_tell) return std::move(found_);
      (slower ? bad : good) = middle;
    }
    found_.reason.clear();
    found_.last_good = name_of(history_[good]);
    found_.first_bad = name_of(history_[bad]);
    return std::move(found_);
  }

 private:
  std::string target_of_board() {
    const SuiteCase& suite_case = request_.suite_case;
    const KernelSource source = read_kernel(&request_.compiler, suite_case.kernel, observer_);
    ConnectOptions connection;
    connection.devices = devices_for(suite_case.target, source);
    measured_.emplace(MeasuredCase{request_.compiler, connection.devices, suite_case.sampling});
    const Device device = open_(connection);
    is_emulated_ = bench::is_emulated(device.facts());
    return target_for(device, suite_case.target, source, observer_).text;
  }

  CompiledModule load(const HistoryEntry& entry) {
    auto bytes = request_.store.get(entry.module.module);
    if (!bytes) {
      throw UsageError("the store has no module of " + name_of(entry) +
                       " any more: it was deleted because of the store's quota");
    }
    return CompiledModule(std::move(*bytes), request_.store.blobs(entry.module.blobs));
  }

  // Whether the module at this place is slower than the good one. What is not certain is not slower.
  bool is_slower(std::size_t place) {
    const HistoryEntry& entry = history_[place];
    BisectStep& step = found_.steps.emplace_back();
    step.label = name_of(entry);
    step.when = entry.when;
    step.result.name = request_.suite_case.name + " of " + step.label;
    step.result.tolerance = request_.suite_case.tolerance;
    verify::ParameterPairs pairs;
    const std::array<SideModule, 2> sides{*good_, plan_same_side(load(entry), request_.suite_case, *good_, pairs)};
    const DecisionRule rule{request_.suite_case.tolerance, request_.suite.error_level, request_.suite.most_pairs};
    if (is_emulated_) {
      judge_by_instructions(count_sides(open_, *measured_, sides, observer_), rule.tolerance, step.result);
    } else {
      compare_sides(open_, *measured_, sides, rule, random_, observer_, step.result);
    }
    found_.reason = step.label + ": " + to_text(step.result.verdict) +
                    (step.result.reason.empty() ? "" : ", " + step.result.reason);
    return step.result.verdict == Verdict::slower;
  }

  const BisectRequest& request_;
  const OpenSession& open_;
  const Observer& observer_;
  stats::Random random_;
  std::vector<HistoryEntry> history_;
  std::optional<MeasuredCase> measured_;
  std::optional<SideModule> good_;
  bool is_emulated_ = false;
  Bisection found_;
};

}  // namespace

Bisection bisect(const BisectRequest& request, const OpenSession& open, const Observer& observer) {
  return Bisector(request, open, observer).run();
}

}  // namespace ferry::gate
