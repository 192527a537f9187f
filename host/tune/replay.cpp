#include "host/tune/replay.h"

#include "crosscompile/ir/error.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace ferry::tune {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Takes the next word, or a character that is part of none, off the front. Ends of lines are the only blanks that
// count.
std::string_view next_token(std::string_view& text) {
  while (!text.empty() && text[0] != '\n' && std::isspace(static_cast<unsigned char>(text[0])) != 0)
    text.remove_prefix(1);
  const auto end = std::ranges::find_if_not(text, is_word);
  const auto length = std::max<std::size_t>(static_cast<std::size_t>(end - text.begin()), text.empty() ? 0 : 1);
  const std::string_view token = text.substr(0, length);
  text.remove_prefix(length);
  return token;
}

// Pairs the names of two texts: each name of one stands for one of the other.
class Renaming {
 public:
  bool add(std::string_view a, std::string_view b) {
    return to_.emplace(a, b).first->second == b && from_.emplace(b, a).first->second == a;
  }

 private:
  std::map<std::string_view, std::string_view> to_, from_;
};

// Returns the schedule at the record's point in place of the default; nothing if there is no such point.
std::optional<Scheduled> scheduled_at(const TuneRecord& record, const ReplayedTask& task) {
  Scheduled scheduled{.programs = std::span(&task.of_point(), 1), .sizes = task.sizes};
  if (task.schedule == nullptr) {
    scheduled.point = PointText{.text = {}, .name = "the record", .in_order = record.values};
    return scheduled;
  }
  scheduled.schedule = *task.schedule;
  const auto knobs = task.compiler.knobs_of(*task.schedule);
  if (knobs.size() != record.values.size()) return std::nullopt;
  std::size_t next = 0;
  for (const auto& [knob, choices] : knobs) scheduled.schedule->knobs[knob] = record.values[next++];
  return scheduled;
}

// Returns nothing if the default schedule's space does not have the point.
std::optional<SpacePoint> point_at(const ReplayedTask& task, PointText point) {
  try {
    Scheduled scheduled{.programs = std::span(&task.of_point(), 1), .sizes = task.sizes};
    scheduled.point = std::move(point);
    return task.compiler.space_at(scheduled, task.target);
  } catch (const CompileError&) {
    return std::nullopt;
  }
}

Hash code_of(const ReplayedTask& task, Scheduled scheduled) {
  return task.compiler.code_identity(task.compiler.compile({std::move(scheduled), task.target}).module);
}

}  // namespace

bool are_same_directives(std::string_view a, std::string_view b) {
  Renaming names;
  bool is_first = true;  // the next word is the first after the stage
  while (!a.empty() || !b.empty()) {
    const std::string_view one = next_token(a), other = next_token(b);
    if (one.empty() || other.empty()) return one.empty() && other.empty();
    if (!is_word(one[0]) || is_digit(one[0])) {
      if (one != other) return false;
      if (one == "\n" || one == ":") is_first = true;
      continue;
    }
    // A word that begins a directive and has no colon behind it is what the directive does.
    const bool is_stage = is_first && a.starts_with(":");
    if (is_first && !is_stage ? one != other : !names.add(one, other)) return false;
    is_first = false;
  }
  return true;
}

std::optional<TuneRecord> replayed(const TuneRecord& record, const ReplayedTask& task) {
  if (task.schedule != nullptr)  // its text is part of the record's key
    return scheduled_at(record, task) ? std::optional(record) : std::nullopt;
  if (const auto point = point_at(task, {.text = {}, .name = "the record", .in_order = record.values}))
    if (record.directives.empty() || are_same_directives(point->schedule, record.directives)) return record;
  if (record.directives.empty() || record.point.empty()) return std::nullopt;
  const auto point = point_at(task, {.text = record.point, .name = "the record", .in_order = {}});
  if (!point || !are_same_directives(point->schedule, record.directives)) return std::nullopt;
  TuneRecord renewed = record;
  renewed.values = values_in_order(*point);
  return renewed;
}

bool has_same_code(const TuneRecord& record, const ReplayedTask& task) {
  // Its name is part of a function's code.
  lang::Program program = task.program, of_point = task.of_point();
  program.name = of_point.name = record.function;
  const ReplayedTask named{task.compiler, program, task.sizes, task.target, task.schedule, &of_point};
  try {
    std::optional<Scheduled> at_point = scheduled_at(record, named);
    const Scheduled by_default{.programs = std::span(&program, 1),
                               .schedule = task.schedule != nullptr ? std::optional(*task.schedule) : std::nullopt,
                               .sizes = task.sizes};
    return at_point && code_of(named, *std::move(at_point)) == record.code &&
           code_of(named, by_default) == record.default_code;
  } catch (const CompileError&) {
    return false;
  }
}

}  // namespace ferry::tune
