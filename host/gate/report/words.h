// How reports say results to people, whatever their format. Names in the texts are as they are in the report: each
// format escapes them.
#pragma once

#include <string>
#include <vector>

#include "host/gate/api/report.h"

namespace ferry::gate {

enum class Severity : std::uint8_t { bad, unsure, good, neutral };
Severity severity_of(Verdict verdict);
// Returns bad, unsure or good for the whole report.
Severity severity_of(const Report& report);

// Whether people want to hear of it: of any verdict but "first" and those without a change.
bool has_news(const CaseResult& result);

// "Failed: 1 wrong, 2 slower, 9 no change", and what else the exit code says.
std::string headline(const Report& report);
// The name of the board that measured, beside that in the suite where they differ: "pi (rpi4-03)", and "rpi4-03" in
// place of "farm://lab/rpi4".
std::string board_of(const CaseResult& result);
// "mm on rpi4-03"
std::string title_of(const CaseResult& result);
// The reason with the number of tries, if there were several; empty if there is nothing to say.
std::string reason_of(const CaseResult& result);

// A sentence about a case, or about several of which the same is to be said.
struct Note {
  std::string title, text;
};
// Returns the reasons and the warnings of the results. Equal ones are one note, "add, mm and 7 more on rpi4-03".
std::vector<Note> notes_of(const std::vector<const CaseResult*>& results);

// Returns the results with what needs attention first; equal verdicts are in the order of the suite.
std::vector<const CaseResult*> by_importance(const Report& report);

// Whether the interval of the time has an end.
bool is_bounded(const Change& change);
// "+3.10%" for 1.031, "12.5 times" from 10 on, "unknown" for what is no number.
std::string percent_change(double ratio);
// A change and the ends of its interval, all three as percentages, or all three as multiples where one of them is
// large: "7.73 times" beside "11.0 times".
struct ChangeWords {
  std::string ratio, low, high;
};
ChangeWords words_of(const Change& change);
// "+3.10% (+2.40% to +3.90%)"; without the interval if it has no end.
std::string change_text(const Change& change);
// The same, or that of the instructions where the verdict rests on these; empty if nothing was measured.
std::string change_text(const CaseResult& result);
// "1.23 ms"; empty for a side that was not measured.
std::string time_of(const SideFacts& side);
// "2026-03-01 08:50:36 UTC"
std::string utc_text(std::int64_t seconds);

// A limit on the current side, and what was measured.
struct LimitCheck {
  std::string name, limit, measured;
  bool is_exceeded = false;
};
std::vector<LimitCheck> limit_checks(const CaseResult& result);

// The diffs that there are, with a title for each.
struct NamedDiff {
  const char* name;  // "Assembly"
  const std::string* text;
};
std::vector<NamedDiff> diffs_of(const CaseResult& result);

}  // namespace ferry::gate
