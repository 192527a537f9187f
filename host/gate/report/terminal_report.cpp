#include "host/gate/report/terminal_report.h"

#include <algorithm>

#include "base/lines.h"
#include "base/printable.h"
#include "host/gate/report/baseline_notes.h"
#include "host/gate/report/words.h"
#include "host/text/columns.h"
#include "host/text/style.h"

namespace ferry::gate {

namespace {

std::string painted(FILE* stream, Severity severity, const std::string& text) {
  switch (severity) {
    case Severity::bad: return text::painted(stream, text::Color::red, text);
    case Severity::unsure: return text::painted(stream, text::Color::yellow, text);
    case Severity::good: return text::painted(stream, text::Color::green, text);
    case Severity::neutral: break;
  }
  return text;
}

std::vector<std::string> row_of(const CaseResult& result) {
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  return {to_text(result.verdict),
          printable(result.name),
          printable(board_of(result)),
          or_dash(change_text(result)),
          or_dash(time_of(result.sides[Side::baseline])),
          or_dash(time_of(result.sides[Side::current])),
          result.pairs.empty() ? "-" : std::to_string(result.pairs.size())};
}

// Colours the verdict with which the first line of each row begins: colours in the entries would count as columns.
std::string with_colours(const std::string& table, const std::vector<const CaseResult*>& shown, FILE* stream) {
  std::string text;
  auto next = shown.begin();
  bool is_head = true;
  for (const std::string_view line : lines_of(table)) {
    const std::string verdict = next == shown.end() || is_head ? "" : to_text((*next)->verdict);
    is_head = false;
    // A row goes on in lines that begin with a space, or with the rest of a verdict that was too wide.
    if (!verdict.empty() && (line.substr(0, verdict.size() + 1) == verdict + " ")) {
      text += painted(stream, severity_of((*next)->verdict), verdict);
      text += line.substr(verdict.size());
      ++next;
    } else {
      text += line;
    }
    text += '\n';
  }
  return text;
}

// The first line is wrapped; those after it are as a compiler wrote them, whose marks stand below what they are about.
std::string note_text(const std::string& title, const std::string& text, std::size_t width) {
  std::string note;
  for (const std::string_view line : lines_of(text)) {
    note += note.empty() ? text::wrapped(printable(title) + ": " + printable(line), width) : "  " + printable(line);
    note += "\n";
  }
  return note;
}

std::string notes_of(const std::vector<const CaseResult*>& shown, std::size_t width) {
  std::string notes;
  for (const Note& note : gate::notes_of(shown)) notes += note_text(note.title, note.text, width);
  return notes;
}

}  // namespace

std::string terminal_report(const Report& report, std::size_t width, FILE* stream) {
  std::vector<const CaseResult*> shown;
  for (const CaseResult& result : report.cases) {
    if (report.cases.size() <= kMostRows || has_news(result)) shown.push_back(&result);
  }
  std::string text;
  if (!shown.empty()) {
    text::Rows rows = {{"verdict", "case", "board", "change", "baseline", "current", "pairs"}};
    for (const CaseResult* result : shown) rows.push_back(row_of(*result));
    text += with_colours(text::columns_text(text::without_blank_columns(rows), width), shown, stream);
  }
  const std::size_t hidden = report.cases.size() - shown.size();
  if (hidden > 0) text += "and " + std::to_string(hidden) + " without news\n";
  const std::string notes = notes_of(shown, width);
  if (!notes.empty()) text += "\n" + notes;
  const std::vector<std::string> baseline = baseline_notes(report);
  if (!baseline.empty()) text += "\n";
  for (const std::string& note : baseline) text += text::wrapped(printable(note), width) + "\n";
  const std::vector<std::string> methods = method_notes(report);
  if (!methods.empty() && baseline.empty()) text += "\n";
  for (const std::string& note : methods) text += text::wrapped(printable(note), width) + "\n";
  return text + (text.empty() ? "" : "\n") + painted(stream, severity_of(report), headline(report)) + "\n";
}

}  // namespace ferry::gate
