#include "host/autoschedule/point_text.h"

#include "base/printable.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace ferry::autoschedule {

namespace {

[[noreturn]] void fail(const PointText& point, const std::string& what) {
  throw CompileError(point.name + ": " + what);
}

std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

// Returns the parts without surrounding blanks.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Returns the words after "def", or nothing for any other entry.
std::optional<std::string_view> function_of(std::string_view entry) {
  constexpr std::string_view kDef = "def";
  if (entry != kDef && !entry.starts_with("def ") && !entry.starts_with("def\t")) return std::nullopt;
  return trimmed(entry.substr(kDef.size()));
}

void add_function(const PointText& point, std::string_view name, std::vector<FunctionPoint>& functions) {
  if (name.empty()) fail(point, "expected the name of a function after 'def', got nothing");
  for (const FunctionPoint& function : functions)
    if (function.function == name)
      fail(point, "expected one part for each function, got another 'def' of " + quoted(name));
  functions.push_back({std::string(name), {}});
}

void add_values(const PointText& point, std::string_view entry, std::vector<NamedValue>& values) {
  const std::size_t colon = entry.find(':');
  const std::string_view stage = trimmed(entry.substr(0, colon));
  if (colon == std::string_view::npos || stage.empty()) fail(point, "expected STAGE: KNOB=VALUE, got " + quoted(entry));
  for (const std::string_view part : parts_of(entry.substr(colon + 1), ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view knob = trimmed(part.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? "" : trimmed(part.substr(equals + 1));
    if (knob.empty() || value.empty())
      fail(point,
           "expected KNOB=VALUE after '" + printable(stage) + ":', got " + (part.empty() ? "nothing" : quoted(part)));
    const auto same = std::ranges::find_if(
        values, [&](const NamedValue& other) { return other.stage == stage && other.knob == knob; });
    if (same != values.end())
      fail(point, "expected one value for " + same->knob + " of " + same->stage + ", got " + quoted(same->value) +
                      " and " + quoted(value));
    values.push_back({std::string(stage), std::string(knob), std::string(value)});
  }
}

}  // namespace

std::vector<FunctionPoint> parse_point(const PointText& point) {
  std::vector<FunctionPoint> functions = {{}};
  for (const std::string_view line : parts_of(point.text, '\n')) {
    for (const std::string_view entry : parts_of(line.substr(0, line.find('#')), ';')) {
      if (entry.empty()) continue;
      if (const auto name = function_of(entry))
        add_function(point, *name, functions);
      else
        add_values(point, entry, functions.back().values);
    }
  }
  return functions;
}

std::string point_text(const DecidedSchedule& decided) {
  std::string text, stage;
  for (std::size_t i = 0; i < decided.decisions.size(); ++i) {
    const Decision& decision = decided.decisions[i];
    for (const SpaceKnob& knob : decision.space.knobs) {
      text += decision.stage == stage ? ", " : (text.empty() ? "" : "\n") + decision.stage + ": ";
      stage = decision.stage;
      text += knob.name + "=" + value_text(knob, decided.points[i][knob.name]);
    }
  }
  return text + (text.empty() ? "" : "\n");
}

}  // namespace ferry::autoschedule
