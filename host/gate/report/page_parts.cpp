#include "host/gate/report/page_parts.h"

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

void write_fact(html::Html& html, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  const auto entry = html.open("div");
  html.element("dt", name);
  html.element("dd", value);
}

Table::Table(html::Html& html, std::string_view caption, std::initializer_list<std::string_view> columns)
    : wrapper_(html.open(
          "div", {{"class", "table"}, {"role", "region"}, {"tabindex", "0"}, {"aria-label", std::string(caption)}})),
      table_(html.open("table")) {
  html.element("caption", caption);
  const auto head = html.open("thead");
  const auto row = html.open("tr");
  for (const std::string_view column : columns) html.element("th", column, {{"scope", "col"}});
}

}  // namespace ferry::gate
