#include "host/gate/report/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/format.h"
#include "base/quantity_text.h"

namespace ferry::gate {

namespace {

constexpr std::array kByImportance = {Verdict::failed,      Verdict::wrong,          Verdict::slower,
                                      Verdict::over_limit,  Verdict::infrastructure, Verdict::interrupted,
                                      Verdict::cannot_tell, Verdict::faster,         Verdict::first,
                                      Verdict::no_change,   Verdict::unchanged};

// From here on, a percentage says less than a multiple.
constexpr double kLeastMultiple = 10;

std::string multiple_text(double ratio) { return format("%.3g times", ratio); }

// Names of so many cases stand before a sentence about all of them.
constexpr std::size_t kMostTitles = 3;

// "add, mm and 7 more on rpi4-03"
std::string title_of(const std::vector<const CaseResult*>& results) {
  const std::string board = board_of(*results.front());
  const bool is_one_board =
      std::ranges::all_of(results, [&](const CaseResult* result) { return board_of(*result) == board; });
  std::string text;
  const std::size_t named = results.size() <= kMostTitles + 1 ? results.size() : kMostTitles;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == results.size() ? " and " : ", ";
    text += is_one_board ? results[i]->name : title_of(*results[i]);
  }
  if (named < results.size()) text += " and " + std::to_string(results.size() - named) + " more";
  return is_one_board && !board.empty() ? text + " on " + board : text;
}

std::size_t rank_of(Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::find(kByImportance, verdict) - kByImportance.begin());
}

std::string outcome_of(const Report& report) {
  switch (exit_code(report)) {
    case 0: return report.is_interrupted ? "Interrupted" : "Passed";
    case 1: return "Failed";
    case 2: {
      const bool is_complete = report.missing.empty() || report.missing_policy == MissingPolicy::allow;
      return is_complete ? "Failed by a mistake in a case" : "Failed, since the suite lacks cases of the baseline";
    }
    case 3: return "No board could measure all cases";
    default: break;
  }
  return report.is_interrupted ? "Interrupted" : "Cannot tell";
}

}  // namespace

Severity severity_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::slower:
    case Verdict::wrong:
    case Verdict::over_limit:
    case Verdict::failed: return Severity::bad;
    case Verdict::cannot_tell:
    case Verdict::infrastructure:
    case Verdict::interrupted: return Severity::unsure;
    case Verdict::faster:
    case Verdict::no_change: return Severity::good;
    case Verdict::unchanged:
    case Verdict::first: return Severity::neutral;
  }
  return Severity::unsure;
}

Severity severity_of(const Report& report) {
  const int code = exit_code(report);
  if (code == 1 || code == 2 || code == 4) return Severity::bad;
  return code == 0 && !report.is_interrupted ? Severity::good : Severity::unsure;
}

bool has_news(const CaseResult& result) {
  switch (result.verdict) {
    case Verdict::unchanged:
    case Verdict::first:
    case Verdict::no_change: return false;
    case Verdict::faster:
    case Verdict::slower:
    case Verdict::cannot_tell:
    case Verdict::wrong:
    case Verdict::over_limit:
    case Verdict::failed:
    case Verdict::infrastructure:
    case Verdict::interrupted: return true;
  }
  return true;
}

std::string headline(const Report& report) {
  if (report.failure) return "No verdicts: the run failed";
  std::vector<std::string> counts;
  for (const Verdict verdict : kByImportance) {
    const auto count = std::ranges::count(report.cases, verdict, &CaseResult::verdict);
    if (count > 0) counts.push_back(std::to_string(count) + " " + to_text(verdict));
  }
  return outcome_of(report) + ": " + (counts.empty() ? "no cases" : join(", ", counts));
}

std::string board_of(const CaseResult& result) {
  const std::string& own = result.environment.board;
  if (own.empty() || own == result.board) return result.board;
  return result.board.empty() || result.board.find("://") != std::string::npos ? own : result.board + " (" + own + ")";
}

std::string title_of(const CaseResult& result) {
  const std::string board = board_of(result);
  return board.empty() ? result.name : result.name + " on " + board;
}

std::string reason_of(const CaseResult& result) {
  if (result.tries <= 1) return result.reason;
  return result.reason + (result.reason.empty() ? "" : " ") + "(tried " + std::to_string(result.tries) + " times)";
}

std::vector<Note> notes_of(const std::vector<const CaseResult*>& results) {
  struct Group {
    std::string text;
    std::vector<const CaseResult*> about = {};
  };
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  const auto add = [&](const CaseResult* result, const std::string& text) {
    if (text.empty()) return;
    const auto [place, is_new] = places.try_emplace(text, groups.size());
    if (is_new) groups.push_back({text});
    groups[place->second].about.push_back(result);
  };
  for (const CaseResult* result : results) {
    add(result, reason_of(*result));
    if (result->verdict == Verdict::wrong && !result->inputs.empty()) add(result, "the inputs: " + result->inputs);
    for (const std::string& warning : result->warnings) add(result, "warning: " + warning);
  }
  std::vector<Note> notes;
  for (const Group& group : groups) notes.push_back({title_of(group.about), group.text});
  return notes;
}

std::vector<const CaseResult*> by_importance(const Report& report) {
  std::vector<const CaseResult*> sorted;
  for (const CaseResult& result : report.cases) sorted.push_back(&result);
  std::ranges::stable_sort(sorted, {}, [](const CaseResult* result) { return rank_of(result->verdict); });
  return sorted;
}

bool is_bounded(const Change& change) {
  return std::isfinite(change.ratio) && std::isfinite(change.low) && std::isfinite(change.high) && change.high > 0;
}

std::string percent_change(double ratio) {
  const double percent = (ratio - 1) * 100;
  if (!std::isfinite(percent)) return "unknown";
  if (ratio >= kLeastMultiple) return multiple_text(ratio);
  const double size = std::abs(percent);
  const int digits = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  const std::string text = format("%+.*f%%", digits, percent);
  return text == "-0.00%" || text == "+0.00%" ? "0.00%" : text;
}

ChangeWords words_of(const Change& change) {
  if (is_bounded(change) && std::max(change.ratio, change.high) >= kLeastMultiple) {
    return {multiple_text(change.ratio), multiple_text(change.low), multiple_text(change.high)};
  }
  return {percent_change(change.ratio), percent_change(change.low), percent_change(change.high)};
}

std::string change_text(const Change& change) {
  const ChangeWords words = words_of(change);
  return is_bounded(change) ? words.ratio + " (" + words.low + " to " + words.high + ")" : words.ratio;
}

std::string change_text(const CaseResult& result) {
  if (result.by_instructions && result.instructions) {
    return percent_change(result.instructions->ratio()) + " instructions";
  }
  if (result.pairs.empty()) return "";
  return change_text(result.change) + (is_bounded(result.change) ? "" : " (no bounds yet)");
}

std::string time_of(const SideFacts& side) {
  return side.seconds > 0 && std::isfinite(side.seconds) ? seconds_text(side.seconds) : "";
}

std::string utc_text(std::int64_t seconds) {
  // Years of five digits and more come from no clock.
  if (seconds < 0 || seconds >= 253'402'300'800) return "out of range";
  return time_text(static_cast<std::uint64_t>(seconds) * 1000) + " UTC";
}

std::vector<LimitCheck> limit_checks(const CaseResult& result) {
  const Limits& limits = result.limits;
  const SideFacts& current = result.sides[Side::current];
  std::vector<LimitCheck> checks;
  if (limits.seconds) {
    checks.push_back({"Time of a call", "at most " + seconds_text(*limits.seconds), time_of(current),
                      current.seconds > *limits.seconds});
  }
  if (limits.bytes) {
    const std::uint64_t bytes = current.code_bytes + current.data_bytes;
    checks.push_back({"Code and data", "at most " + bytes_text(*limits.bytes), bytes > 0 ? bytes_text(bytes) : "",
                      bytes > *limits.bytes});
  }
  if (limits.share_of_peak) {
    checks.push_back({"Share of the peak rate", "at least " + percent_text(*limits.share_of_peak),
                      result.share_of_peak ? percent_text(*result.share_of_peak) : "",
                      result.share_of_peak && *result.share_of_peak < *limits.share_of_peak});
  }
  return checks;
}

std::vector<NamedDiff> diffs_of(const CaseResult& result) {
  std::vector<NamedDiff> diffs = {{"Source", &result.diff.source},
                                  {"Operators", &result.diff.operators},
                                  {"Schedule", &result.diff.schedule},
                                  {"Loops", &result.diff.loops},
                                  {"Hot assembly", &result.diff.assembly}};
  std::erase_if(diffs, [](const NamedDiff& diff) { return diff.text->empty(); });
  return diffs;
}

}  // namespace ferry::gate
