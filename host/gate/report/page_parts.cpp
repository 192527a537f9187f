#include "host/gate/report/page_parts.h"

#include <algorithm>

#include "host/text/table.h"

namespace ferry::gate {

namespace {

const char* mark_of(Severity severity) {
  switch (severity) {
    case Severity::bad: return "✖ ";
    case Severity::unsure: return "▲ ";
    case Severity::good: return "● ";
    case Severity::neutral: break;
  }
  return "○ ";
}

}  // namespace

const char* style_of(Severity severity) {
  switch (severity) {
    case Severity::bad: return "bad";
    case Severity::unsure: return "unsure";
    case Severity::good: return "good";
    case Severity::neutral: break;
  }
  return "neutral";
}

void write_verdict(html::Html& html, Verdict verdict) {
  const Severity severity = severity_of(verdict);
  const auto word = html.open("span", {{"class", std::string("verdict ") + style_of(severity)}});
  html.element("span", mark_of(severity), {{"aria-hidden", "true"}});
  html.text(to_text(verdict));
}

void FactTable::write(html::Html& html, std::string_view caption) const {
  std::vector<std::size_t> shown;
  std::vector<std::string_view> heads;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (i > 0 && std::ranges::all_of(rows_, [i](const std::vector<Cell>& row) { return row[i].text.empty(); }))
      continue;
    shown.push_back(i);
    heads.push_back(columns_[i]);
  }
  const html::Table table(html, caption, heads);
  const auto body = html.open("tbody");
  for (const std::vector<Cell>& row : rows_) {
    const auto line = html.open("tr");
    for (const std::size_t i : shown) {
      const auto cell = i == 0 ? html.open("th", {{"scope", "row"}}) : html.open("td");
      if (row[i].write) {
        row[i].write(html);
      } else {
        html.text(row[i].text);
      }
    }
  }
}

std::string write_page(const std::string& title, const std::string& heading, const std::string& footer,
                       const std::function<void(html::Html&)>& body) {
  return html::write_page({title, "ferry gate", heading, footer}, body);
}

}  // namespace ferry::gate
