#include "host/gate/report/case_section.h"

#include <cmath>

#include "base/format.h"
#include "base/lines.h"
#include "base/quantity_text.h"
#include "host/gate/report/charts.h"
#include "host/gate/report/page_parts.h"
#include "host/gate/report/words.h"
#include "host/text/table.h"

namespace ferry::gate {

namespace {

// A module is known by the beginning of its hash.
constexpr std::size_t kHashDigits = 16;

std::string count_of(const std::optional<Instructions>& instructions, Side side) {
  if (!instructions || !std::isfinite(instructions->counts[side])) return "";
  return format("%.0f", instructions->counts[side]);
}

void write_facts(html::Html& html, const CaseResult& result) {
  const auto list = html.open("dl", {{"class", "facts"}});
  const Environment& environment = result.environment;
  write_fact(html, result.by_instructions ? "Change, which decides" : "Change of the time", change_text(result));
  if (result.instructions && !result.by_instructions) {
    write_fact(html, "Change of the instructions", percent_change(result.instructions->ratio()));
  }
  write_fact(html, "Tolerance", std::isfinite(result.tolerance) ? percent_text(result.tolerance) : "");
  if (!result.pairs.empty()) write_fact(html, "Pairs", std::to_string(result.pairs.size()));
  write_fact(html, "Inputs", result.inputs);
  write_fact(html, "Board", environment.board.empty() ? result.board : environment.board);
  write_fact(html, "Processor", environment.processor);
  write_fact(html, "Operating system", environment.kernel);
  write_fact(html, "Frequency governor", environment.governor);
}

bool is_known(const SideFacts& side) { return side.module != Hash{} || !side.label.empty() || !time_of(side).empty(); }

void write_sides(html::Html& html, const CaseResult& result, const std::string& title) {
  if (!is_known(result.sides[Side::baseline]) && !is_known(result.sides[Side::current])) return;
  FactTable table({"Side", "Version", "Module", "Time of a call", "Code", "Data", "Instructions of a call"});
  for (const Side side : kSides) {
    const SideFacts& one = result.sides[side];
    const bool has_module = one.module != Hash{};
    const std::string module = has_module ? to_hex(one.module).substr(0, kHashDigits) : "none";
    table.add({name_of(side),
               one.label,
               {module, [module](html::Html& cell) { cell.element("code", module); }},
               time_of(one),
               has_module ? bytes_text(one.code_bytes) : "",
               has_module ? bytes_text(one.data_bytes) : "",
               count_of(result.instructions, side)});
  }
  table.write(html, "Both sides of " + title);
}

void write_limits(html::Html& html, const CaseResult& result, const std::string& title) {
  const std::vector<LimitCheck> limits = limit_checks(result);
  if (limits.empty()) return;
  const html::Table table(html, "Limits of " + title, {"Limit", "Expected", "Measured", "State"});
  const auto rows = html.open("tbody");
  for (const LimitCheck& limit : limits) {
    const auto row = html.open("tr");
    html.element("th", limit.name, {{"scope", "row"}});
    html.element("td", limit.limit);
    html.element("td", limit.measured.empty() ? "not measured" : limit.measured);
    const auto cell = html.open("td");
    html.element("span",
                 limit.is_exceeded        ? "exceeded"
                 : limit.measured.empty() ? "unknown"
                                          : "kept",
                 {{"class", limit.is_exceeded ? "verdict bad" : "verdict neutral"}});
  }
}

const char* style_of_line(std::string_view line) {
  if (line.starts_with("+++") || line.starts_with("---") || line.starts_with("@@")) return "place";
  return line.starts_with('+') ? "added" : line.starts_with('-') ? "removed" : "same";
}

void write_diffs(html::Html& html, const CaseResult& result, const std::string& title) {
  for (const NamedDiff& diff : diffs_of(result)) {
    const auto details = html.open("details");
    html.element("summary", std::string("What changed: ") + diff.name);
    // Scrolls, so the keyboard must reach it.
    const auto text = html.open("pre", {{"class", "diff"},
                                        {"tabindex", "0"},
                                        {"role", "region"},
                                        {"aria-label", std::string(diff.name) + " of " + title}});
    for (const std::string_view line : lines_of(*diff.text)) {
      html.element("span", line, {{"class", style_of_line(line)}});
      html.lines("\n");
    }
  }
}

void write_body(html::Html& html, const CaseResult& result, const std::string& anchor, const std::string& title) {
  const std::string reason = reason_of(result);
  if (!reason.empty()) write_lines(html, reason, "Reason of " + title);
  for (const std::string& warning : result.warnings) {
    html.element("p", "Warning: " + warning, {{"class", "unsure"}});
  }
  write_facts(html, result);
  write_sides(html, result, title);
  write_limits(html, result, title);
  write_times_chart(html, result, anchor + "-times");
  write_pairs_chart(html, result, anchor + "-pairs");
  write_diffs(html, result, title);
}

void write_title(html::Html& html, const CaseResult& result, const std::string& title) {
  const auto head = html.open("h2");
  html.text(title + ": ");
  write_verdict(html, result.verdict);
}

}  // namespace

void write_case(html::Html& html, const CaseResult& result, const std::string& anchor, bool is_folded) {
  const std::string title = title_of(result);
  if (!is_folded) {
    const auto section = html.open("section", {{"id", anchor}});
    write_title(html, result, title);
    write_body(html, result, anchor, title);
    return;
  }
  const auto section = html.open("details", {{"id", anchor}, {"class", "quiet-case"}});
  {
    const auto summary = html.open("summary");
    write_title(html, result, title);
  }
  write_body(html, result, anchor, title);
}

}  // namespace ferry::gate
