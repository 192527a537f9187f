#include "host/gate/run/bisect.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/gate/run/compare_sides.h"
#include "host/gate/run/count_sides.h"
#include "host/gate/run/find_failed_side.h"
#include "host/gate/store/case_history.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emulated.h"
#include "host/kernel/kernel_failure.h"

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

std::string name_of(const HistoryEntry& entry) {
  return entry.label.empty() ? to_hex(entry.module.module).substr(0, 12) : entry.label;
}

std::string range_of(const std::vector<HistoryEntry>& history) {
  if (history.empty()) return "it is empty";
  return "it begins at " + name_of(history.front()) + " and ends at " + name_of(history.back());
}

// Returns the last entries of everything whose label, or whose module's hash, begins like this, the latest first.
std::vector<std::size_t> places_of(const std::vector<HistoryEntry>& history, const std::string& beginning) {
  std::vector<std::size_t> places;
  for (std::size_t i = history.size(); i > 0; --i) {
    const HistoryEntry& entry = history[i - 1];
    const bool is_label = !entry.label.empty() && entry.label.starts_with(beginning);
    if (!is_label && !to_hex(entry.module.module).starts_with(beginning)) continue;
    // Without a label, it is the module that has the name.
    const auto is_same = [&](std::size_t known) { return name_of(history[known]) == name_of(entry); };
    if (std::ranges::none_of(places, is_same)) places.push_back(i - 1);
  }
  return places;
}

// Returns the place of the last entry of this name, or of the only one whose name begins like this.
std::size_t place_of(const std::vector<HistoryEntry>& history, const std::string& name, const std::string& suite_case) {
  if (name.empty()) throw UsageError("expected a commit in the history of " + suite_case + ", got an empty name");
  const std::vector<std::size_t> places = places_of(history, name);
  const auto is_exact = [&](std::size_t place) {
    return history[place].label == name || to_hex(history[place].module.module) == name;
  };
  const auto exact = std::ranges::find_if(places, is_exact);
  if (exact != places.end()) return *exact;
  if (places.empty()) {
    throw UsageError("the history of " + suite_case + " has no commit '" + name + "'; " + range_of(history));
  }
  if (places.size() == 1) return places.front();
  constexpr std::size_t kMostListed = 10;
  std::vector<std::string> names;
  for (const std::size_t place : places) names.push_back(name_of(history[place]));
  if (names.size() > kMostListed) {
    names.resize(kMostListed);
    names.emplace_back("...");
  }
  throw UsageError("expected the name of one commit of " + suite_case + ", got '" + name + "', with which " +
                   std::to_string(places.size()) + " begin: " + join(", ", names));
}

// Whether other modules may be compared although this one cannot.
bool is_about_module(const Error& error) {
  if (dynamic_cast<const StoreFailed*>(&error) != nullptr) return false;
  return dynamic_cast<const SideFailed*>(&error) != nullptr || error.code() == ErrorCode::invalid_argument ||
         error.code() == ErrorCode::not_found;
}

class Bisector {
 public:
  Bisector(const BisectRequest& request, const OpenSession& open, const Observer& observer)
      : request_(request), open_(open), observer_(observer), random_(request.seed) {}

  Bisection run() {
    const std::string target = target_of_board();
    const SuiteCase& suite_case = request_.suite_case;
    const std::vector<HistoryEntry> all =
        of_target(case_history(request_.store, request_.suite.name, suite_case), target);
    history_ = distinct_modules(all);
    const std::size_t good = run_of(all, place_of(all, request_.good, suite_case.name));
    const std::size_t bad = run_of(all, place_of(all, request_.bad, suite_case.name));
    if (good >= bad) {
      throw UsageError("expected the good commit before the bad one, got " + name_of(history_[good]) +
                       " that is not before " + name_of(history_[bad]));
    }
    try {
      good_.emplace(plan_side(load(history_[good]), suite_case));
    } catch (const StoreFailed&) {
      throw;
    } catch (const UsageError& error) {
      throw UsageError(unusable(good, error));
    }
    try {
      search(good, bad);
    } catch (const std::exception&) {
      found_.failure = std::current_exception();
    }
    return std::move(found_);
  }

 private:
  enum class Answer : std::uint8_t { slower, not_slower, unknown, interrupted };

  void search(std::size_t good, std::size_t bad) {
    const std::size_t first_good = good;
    if (ask(bad, first_good) != Answer::slower) return;
    std::set<std::size_t> skipped;
    while (const std::optional<std::size_t> middle = between(good, bad, skipped)) {
      switch (ask(*middle, first_good)) {
        case Answer::slower: bad = *middle; break;
        case Answer::not_slower: good = *middle; break;
        case Answer::unknown: skipped.insert(*middle); break;
        case Answer::interrupted: return;
      }
    }
    found_.last_good = name_of(history_[good]);
    for (std::size_t i = good + 1; i <= bad; ++i) found_.candidates.push_back(name_of(history_[i]));
    found_.reason.clear();
    if (found_.candidates.size() == 1) {
      found_.first_bad = found_.candidates.front();
    } else {
      found_.reason = "any of " + join(", ", found_.candidates) + " may be the first slower one after " +
                      found_.last_good + ", since all but the last of them cannot be compared";
    }
  }

  // Returns the place next to the middle of a range that was not skipped; nothing if there is none.
  static std::optional<std::size_t> between(std::size_t good, std::size_t bad, const std::set<std::size_t>& skipped) {
    const std::size_t middle = good + (bad - good) / 2;
    for (std::size_t away = 0; away < bad - good; ++away) {
      if (middle + away < bad && middle + away > good && !skipped.contains(middle + away)) return middle + away;
      if (middle > good + away && !skipped.contains(middle - away)) return middle - away;
    }
    return std::nullopt;
  }

  std::string unusable(std::size_t good, const Error& error) const {
    return "the good one, " + name_of(history_[good]) + ", cannot be compared with: " + error.what();
  }

  std::string target_of_board() {
    const SuiteCase& suite_case = request_.suite_case;
    const KernelSource source = read_kernel(&request_.compiler, suite_case.kernel, observer_);
    ConnectOptions connection;
    connection.devices = devices_for(suite_case.target, source);
    measured_.emplace(MeasuredCase{{&request_.compiler, connection.devices, suite_case.sampling}, request_.measure});
    const Device device = open_(connection);
    is_emulated_ = is_emulated(device.facts());
    return target_for(device, suite_case.target, source, observer_).text;
  }

  CompiledModule load(const HistoryEntry& entry) {
    auto bytes = request_.store.get(entry.module.module);
    const auto has = [&](const Hash& blob) { return request_.store.has(blob); };
    if (!bytes || !std::ranges::all_of(entry.module.blobs, has)) {
      throw UsageError("the store has no module of " + name_of(entry) +
                       " any more: it was deleted because of the store's quota");
    }
    const std::string holder = request_.store.holder_of(entry.module);
    if (!holder.empty() && request_.trust) request_.trust(holder, "the module of " + name_of(entry));
    return CompiledModule(std::move(*bytes), request_.store.blobs(entry.module.blobs));
  }

  // Compares the module at this place with the good one.
  Answer ask(std::size_t place, std::size_t good) {
    const HistoryEntry& entry = history_[place];
    BisectStep& step = found_.steps.emplace_back();
    step.label = name_of(entry);
    step.when = entry.when;
    step.result.name = request_.suite_case.name + " of " + step.label;
    step.result.tolerance = request_.suite_case.tolerance;
    step.result.verdict = Verdict::cannot_tell;
    try {
      measure(entry, step.result);
    } catch (const Error& error) {
      const auto* failed = dynamic_cast<const SideFailed*>(&error);
      if (failed != nullptr && failed->side() == Side::baseline) throw UsageError(unusable(good, error));
      if (!is_about_module(error)) throw;
      step.is_skipped = true;
      step.result.reason = error.what();
      observer_.tell(step.label + " cannot be compared: " + printable_lines(error.what()));
    }
    found_.reason = step.label + ": " + (step.is_skipped ? "cannot be compared" : to_text(step.result.verdict)) +
                    (step.result.reason.empty() ? "" : ", " + step.result.reason);
    switch (step.result.verdict) {
      case Verdict::slower: return Answer::slower;
      case Verdict::no_change:
      case Verdict::faster: return Answer::not_slower;
      case Verdict::interrupted: return Answer::interrupted;
      case Verdict::cannot_tell:
      case Verdict::unchanged:
      case Verdict::first:
      case Verdict::wrong:
      case Verdict::over_limit:
      case Verdict::failed:
      case Verdict::infrastructure: break;
    }
    return Answer::unknown;
  }

  void measure(const HistoryEntry& entry, CaseResult& result) {
    verify::ParameterPairs pairs;
    const PerSide<MeasuredSide> sides{*good_, plan_same_side(load(entry), request_.suite_case, *good_, pairs)};
    const DecisionRule rule{request_.suite_case.tolerance, request_.suite.error_level, request_.suite.most_pairs};
    try {
      if (is_emulated_) {
        judge_by_instructions(count_sides(open_, *measured_, sides, observer_), rule.tolerance, result);
      } else {
        compare_sides(open_, *measured_, sides, rule, random_, observer_, result);
      }
    } catch (const Error& error) {
      if (!may_be_hang(error)) throw;
      if (const auto failed = find_hanging_side(open_, *measured_, sides, observer_)) throw *failed;
      throw;
    }
  }

  const BisectRequest& request_;
  const OpenSession& open_;
  const Observer& observer_;
  stats::Random random_;
  std::vector<HistoryEntry> history_;
  std::optional<MeasuredCase> measured_;
  std::optional<MeasuredSide> good_;
  bool is_emulated_ = false;
  Bisection found_;
};

}  // namespace

Bisection bisect(const BisectRequest& request, const OpenSession& open, const Observer& observer) {
  return Bisector(request, open, observer).run();
}

}  // namespace ferry::gate
