#include "host/gate/report/baseline_notes.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/quantity_text.h"
#include "host/gate/report/words.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kMostListedNames = 12;

// Returns the names of the cases whose results the predicate holds for, with the board where it holds on some boards
// alone.
std::vector<std::string> cases_with(const Report& report, auto holds) {
  std::vector<std::string> names;
  for (const CaseResult& result : report.cases) {
    if (!holds(result)) continue;
    const bool everywhere = std::ranges::all_of(
        report.cases, [&](const CaseResult& other) { return other.name != result.name || holds(other); });
    const std::string name = everywhere ? result.name : title_of(result);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string list_of(std::vector<std::string> names) {
  const std::size_t more = names.size() - std::min(names.size(), kMostListedNames);
  if (more > 0) names.resize(kMostListedNames);
  return join(", ", names) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

std::string modules_of(const std::vector<std::string>& names) {
  return (names.size() == 1 ? "the module of " : "the modules of ") + list_of(names) +
         (names.size() == 1 ? " is" : " are");
}

std::vector<std::string> changed(const Report& report, NewBaseline why) {
  return cases_with(report, [&](const CaseResult& result) { return result.new_baseline == why; });
}

// Returns why an update has changed nothing.
std::string reason_against_update(const Report& report) {
  if (!report.store_failure.empty()) return "the results could not be stored";
  if (report.is_interrupted) return "the run was interrupted";
  if (exit_code(report) != 0) return "the run is not green";
  return "no case has a new module that was compared with it";
}

void add_update(const Report& report, std::vector<std::string>& notes) {
  const std::vector<std::string> updated = changed(report, NewBaseline::updated);
  if (!updated.empty()) {
    notes.push_back("--update: " + modules_of(updated) + " the baseline " + report.baseline + " from now on");
    const std::vector<std::string> untold =
        cases_with(report, [](const CaseResult& result) { return result.verdict == Verdict::cannot_tell; });
    if (!untold.empty()) notes.push_back("--update leaves out " + list_of(untold) + ": cannot tell");
  } else if (exit_code(report) != 0 || report.is_interrupted || notes.empty()) {
    notes.push_back("--update leaves the baseline " + report.baseline + " as it was" +
                    (notes.empty() ? "" : " otherwise") + ": " + reason_against_update(report));
  }
}

void add_accepted(const Report& report, std::vector<std::string>& notes) {
  const std::vector<std::string> accepted = changed(report, NewBaseline::accepted);
  if (!accepted.empty())
    notes.push_back("--accept: " + modules_of(accepted) + " the baseline " + report.baseline + " from now on");
  for (const std::string& name : report.to_accept) {
    bool has_run = false, is_stored = false;
    for (const CaseResult& result : report.cases) {
      if (result.name != name) continue;
      has_run = true;
      is_stored |= result.new_baseline == NewBaseline::accepted || result.new_baseline == NewBaseline::outdated;
    }
    if (is_stored) continue;
    notes.push_back("--accept " + name + " has no effect: " +
                    (!has_run                        ? "the case was not run"
                     : !report.store_failure.empty() ? "the results could not be stored"
                                                     : "its module did not run without a failure"));
  }
}

// Names who stored the modules that have run, or were not allowed to: they are native code.
void add_holders(const Report& report, std::vector<std::string>& notes) {
  std::set<std::string> holders;
  for (const CaseResult& result : report.cases) holders.insert(result.sides[Side::baseline].holder);
  holders.erase("");
  for (const std::string& holder : holders) {
    const std::vector<std::string> names =
        cases_with(report, [&](const CaseResult& result) { return result.sides[Side::baseline].holder == holder; });
    notes.push_back("the baseline's " + std::string(names.size() == 1 ? "module of " : "modules of ") + list_of(names) +
                    (names.size() == 1 ? " was" : " were") + " stored by " + holder);
  }
}

void add_missing(const Report& report, std::vector<std::string>& notes) {
  if (report.missing.empty()) return;
  const bool is_one = report.missing.size() == 1;
  std::string note = std::to_string(report.missing.size()) + (is_one ? " case" : " cases") + " of the baseline " +
                     (is_one ? "is" : "are") + " no longer in the suite: " + list_of(report.missing);
  if (report.forgotten > 0) {
    note += "; --update has deleted " + std::string(is_one ? "it" : "them") + " from the baseline " + report.baseline;
  } else if (report.missing_policy == MissingPolicy::fail) {
    note += "; with --missing allow that passes, and --update deletes " + std::string(is_one ? "it" : "them") +
            " from the baseline " + report.baseline;
  }
  notes.push_back(std::move(note));
}

std::vector<std::string> updates_of(const Report& report) {
  std::vector<std::string> notes;
  if (!report.other_baselines.empty()) {
    notes.push_back("there was no baseline " + report.baseline + " in this suite, only " +
                    list_of(report.other_baselines) + ": nothing was compared");
  }
  const std::vector<std::string> first = changed(report, NewBaseline::first);
  if (!first.empty())
    notes.push_back("the baseline " + report.baseline + " has these cases from now on: " + list_of(first));
  const std::vector<std::string> outdated = changed(report, NewBaseline::outdated);
  if (!outdated.empty()) {
    notes.push_back("the baseline " + report.baseline + " keeps other modules of " + list_of(outdated) +
                    ", which a run of another commit has stored later");
  }
  if (!report.to_accept.empty()) add_accepted(report, notes);
  if (report.is_update) add_update(report, notes);
  return notes;
}

}  // namespace

std::vector<std::string> baseline_notes(const Report& report) {
  std::vector<std::string> notes;
  add_missing(report, notes);
  add_holders(report, notes);
  std::ranges::move(updates_of(report), std::back_inserter(notes));
  return notes;
}

std::vector<std::string> method_notes(const Report& report) {
  std::vector<std::string> methods, notes;
  const auto method_of = [](const CaseResult& result) {
    return result.pairs.empty() ? "" : bench::to_text(result.method);
  };
  for (const CaseResult& result : report.cases) {
    const std::string method = method_of(result);
    if (!method.empty() && std::ranges::find(methods, method) == methods.end()) methods.push_back(method);
  }
  for (const std::string& method : methods) {
    const auto has_method = [&](const CaseResult& result) { return method_of(result) == method; };
    notes.push_back("times" + (methods.size() == 1 ? "" : " of " + list_of(cases_with(report, has_method))) + ": " +
                    method);
  }
  return notes;
}

}  // namespace ferry::gate
