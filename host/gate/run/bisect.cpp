#include "host/gate/run/bisect.h"

#include <algorithm>

#include "host/gate/run/compare_sides.h"
#include "host/kernel/compile_kernel.h"

namespace ferry::gate {

namespace {

// Returns the entries of one target, one for each module in a row.
std::vector<HistoryEntry> distinct_modules(std::vector<HistoryEntry> history, const std::string& target) {
  std::erase_if(history, [&](const HistoryEntry& entry) { return entry.target != target; });
  const auto repeated = std::ranges::unique(
      history, [](const HistoryEntry& a, const HistoryEntry& b) { return a.module.module == b.module.module; });
  history.erase(repeated.begin(), repeated.end());
  return history;
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
    history_ = distinct_modules(request_.store.history(request_.suite.name, suite_case.name), target);
    std::size_t good = place_of(history_, request_.good, suite_case.name);
    std::size_t bad = place_of(history_, request_.bad, suite_case.name);
    if (good >= bad) {
      throw UsageError("expected the good commit before the bad one, got " + name_of(history_[good]) +
                       " that is not before " + name_of(history_[bad]));
    }
    good_.emplace(plan_side(load(history_[good]), suite_case));
    if (!is_slower(bad)) return std::move(found_);
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      const bool slower = is_slower(middle);
      if (found_.steps.back().result.verdict == Verdict::interrupted) return std::move(found_);
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
    return target_for(open_(connection), suite_case.target, source, observer_).text;
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
    compare_sides(open_, *measured_, sides, rule, random_, observer_, step.result);
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
  Bisection found_;
};

}  // namespace

Bisection bisect(const BisectRequest& request, const OpenSession& open, const Observer& observer) {
  return Bisector(request, open, observer).run();
}

}  // namespace ferry::gate
