#include "ferry/schedule/module_schedule.h"

#include "crosscompile/ir/error.h"
#include "ferry/schedule/default_schedule.h"
#include "host/autoschedule/decide_at.h"
#include "host/lang/names.h"
#include "host/schedule/stages/directive_args.h"

#include <algorithm>
#include <optional>

namespace ferry::autoschedule {

using schedule::Directive;
using schedule::DirectiveList;
using schedule::Knob;
using schedule::KnobValues;
using schedule::Schedule;

namespace {

struct Section {
  std::string function;  // empty: the text before the first "def"
  std::string_view text;
  std::size_t line = 1;  // number of its first row
};

bool is_blank(std::string_view row) { return row.find_first_not_of(" \t\r") == std::string_view::npos; }

// Returns the words after "def", or nothing for any other line.
std::optional<std::string> header_of(std::string_view row) {
  row = row.substr(0, row.find('#'));
  const std::size_t start = std::min(row.find_first_not_of(" \t\r"), row.size());
  row.remove_prefix(start);
  if (!row.starts_with("def") || (row.size() > 3 && row[3] != ' ' && row[3] != '\t' && row[3] != '\r')) return {};
  row.remove_prefix(3);
  while (!row.empty() && is_blank(row.substr(0, 1))) row.remove_prefix(1);
  while (!row.empty() && is_blank(row.substr(row.size() - 1))) row.remove_suffix(1);
  return std::string(row);
}

[[noreturn]] void fail(const ScheduleText& text, std::size_t line, const std::string& what) {
  throw CompileError(schedule::location_text(text.file, line) + what, {text.file, line});
}

std::vector<Section> sections_of(const ScheduleText& text) {
  const std::string_view all = text.text;
  std::vector<Section> sections = {{}};
  std::size_t line = 1, section_start = 0;
  for (std::size_t start = 0; start < all.size(); ++line) {
    const std::size_t end = std::min(all.find('\n', start), all.size());
    if (const auto name = header_of(all.substr(start, end - start))) {
      sections.back().text = all.substr(section_start, start - section_start);
      if (name->empty() || name->find_first_of(" \t(:") != std::string::npos)
        fail(text, line,
             "expected the name of one function after 'def', got " + (name->empty() ? "nothing" : "'" + *name + "'"));
      for (const Section& section : sections)
        if (section.function == *name)
          fail(text, line, "expected one section a function, got another 'def " + *name + "'");
      section_start = std::min(end + 1, all.size());
      sections.push_back({*name, {}, line + 1});
    }
    start = end + 1;
  }
  sections.back().text = all.substr(section_start);
  return sections;
}

// Rejects values for knobs that no section has; the choices are checked when a knob is bound.
void expect_known(const KnobValues& values, const std::vector<DirectiveList>& lists, const ScheduleText& text) {
  std::vector<std::string> names;
  for (const DirectiveList& list : lists)
    for (const Knob& knob : list.knobs) names.push_back("$" + knob.name);
  for (const auto& [name, value] : values) {
    if (std::find(names.begin(), names.end(), "$" + name) != names.end()) continue;
    throw CompileError(text.file + " has no knob '$" + name + "'" +
                       (names.empty() ? std::string("; it has none") : lang::suggestion("$" + name, names)));
  }
}

Schedule replay(const lang::Program& program, const DirectiveList& list, const ScheduleText& text) {
  KnobValues values;
  for (const Knob& knob : list.knobs)
    if (const auto value = text.knobs.find(knob.name); value != text.knobs.end()) values.insert(*value);
  Schedule schedule(program);
  for (Directive& directive : bind_knobs(list, values)) schedule.apply(std::move(directive));
  return schedule;
}

}  // namespace

std::vector<Schedule> replay_module_schedule(std::span<const lang::Program> programs, const ScheduleText& text,
                                             const Target& target, const std::vector<std::string>& others,
                                             const Sizes& sizes) {
  std::vector<std::string> names;
  for (const lang::Program& program : programs) names.push_back(program.name);
  std::vector<std::string> known = names;
  for (const std::string& other : others)
    if (std::find(known.begin(), known.end(), other) == known.end()) known.push_back(other);

  std::vector<Section> sections = sections_of(text);
  std::vector<DirectiveList> lists;
  for (const Section& section : sections)
    lists.push_back(schedule::parse_directives(section.text, text.file, section.line));
  if (sections.size() == 1 && programs.size() == 1) sections[0].function = names[0];
  if (sections[0].function.empty() && !lists[0].directives.empty())
    fail(text, lists[0].directives[0].line,
         "expected 'def NAME' before the first directive, as the kernel has " +
             (sections.size() > 1 ? "sections" : "several functions (" + schedule::quoted(known) + ")"));
  for (const Section& section : sections)
    if (!section.function.empty() && std::find(known.begin(), known.end(), section.function) == known.end())
      fail(text, section.line - 1,
           "expected a function of the kernel (" + schedule::quoted(known) + "), got '" + section.function + "'" +
               lang::suggestion(section.function, known));
  expect_known(text.knobs, lists, text);

  std::vector<Schedule> schedules;
  for (const lang::Program& program : programs) {
    const auto section = std::find_if(sections.begin(), sections.end(),
                                      [&](const Section& candidate) { return candidate.function == program.name; });
    schedules.push_back(section == sections.end()
                            ? default_schedule(program, target, sizes)
                            : replay(program, lists[static_cast<std::size_t>(section - sections.begin())], text));
  }
  return schedules;
}

std::vector<Knob> knobs_of(const ScheduleText& text) {
  std::vector<Knob> knobs;
  for (const Section& section : sections_of(text)) {
    for (Knob& knob : schedule::parse_directives(section.text, text.file, section.line).knobs) {
      const auto is_same = [&](const Knob& known) { return known.name == knob.name; };
      if (std::none_of(knobs.begin(), knobs.end(), is_same)) knobs.push_back(std::move(knob));
    }
  }
  return knobs;
}

std::vector<Schedule> default_schedules(std::span<const lang::Program> programs, const Target& target,
                                        const Sizes& sizes) {
  std::vector<Schedule> schedules;
  for (const lang::Program& program : programs) schedules.push_back(default_schedule(program, target, sizes));
  return schedules;
}

std::vector<Schedule> schedules_at(std::span<const lang::Program> programs, const PointText& point,
                                   const Target& target, const std::vector<std::string>& others, const Sizes& sizes) {
  std::vector<Schedule> schedules;
  for (DecidedSchedule& decided : decide_module_at(programs, point, target, others, sizes))
    schedules.push_back(std::move(decided.schedule));
  return schedules;
}

std::string to_text(std::span<const lang::Program> programs, std::span<const Schedule> schedules) {
  std::string text;
  for (std::size_t i = 0; i < programs.size(); ++i)
    text += (i == 0 ? "def " : "\ndef ") + programs[i].name + "\n" + schedules[i].to_text();
  return text;
}

}  // namespace ferry::autoschedule
