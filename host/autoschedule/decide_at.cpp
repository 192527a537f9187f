#include "host/autoschedule/decide_at.h"

#include "base/printable.h"
#include "base/quantity_text.h"
#include "crosscompile/ir/error.h"
#include "host/lang/names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

namespace ferry::autoschedule {

namespace {

// Returns the candidate with the numbers of a text such as "6x2". Spaces may have a hundred candidates, of which no
// texts are made here.
std::optional<KnobValue> candidate_of_numbers(const SpaceKnob& knob, const std::string& value) {
  KnobValue numbers;
  for (const char *next = value.data(), *const end = next + value.size();; ++next) {
    const auto [rest, error] = std::from_chars(next, end, numbers.emplace_back());
    if (error != std::errc()) return std::nullopt;
    next = rest;
    if (next == end) break;
    if (*next != 'x') return std::nullopt;
  }
  const bool is_candidate = std::ranges::find(knob.candidates, numbers) != knob.candidates.end();
  return is_candidate && value_text(knob, numbers) == value ? std::optional(std::move(numbers)) : std::nullopt;
}

std::optional<KnobValue> candidate_of(const SpaceKnob& knob, const std::string& value) {
  if (std::size_t index = 0; value.starts_with('#')) {
    const auto [end, error] = std::from_chars(value.data() + 1, value.data() + value.size(), index);
    if (error != std::errc() || end != value.data() + value.size() || index >= knob.candidates.size())
      return std::nullopt;
    return knob.candidates[index];
  }
  if (knob.kind != KnobKind::flag && knob.labels.empty()) return candidate_of_numbers(knob, value);
  for (const KnobValue& candidate : knob.candidates)
    if (value_text(knob, candidate) == value) return candidate;
  return std::nullopt;
}

// Returns the decision's point with the values that its space has.
Point point_of(const Decision& decision, std::span<const NamedValue> values) {
  std::map<std::string, KnobValue> chosen = decision.space.default_point().values();
  for (const NamedValue& named : values) {
    if (named.stage != decision.stage) continue;
    for (const SpaceKnob& knob : decision.space.knobs)
      if (knob.name == named.knob)
        if (auto value = candidate_of(knob, named.value)) chosen.at(knob.name) = *std::move(value);
  }
  return Point(std::move(chosen));
}

[[noreturn]] void fail(const std::string& name, const std::string& what, const std::string& got,
                       const std::vector<std::string>& names) {
  throw CompileError(name + ": expected " + what + ", got '" + printable(got) + "'" + lang::suggestion(got, names));
}

[[noreturn]] void fail_at_candidate(const std::string& name, const std::string& stage, const SpaceKnob& knob,
                                    const std::string& value) {
  std::vector<std::string> candidates;
  for (const KnobValue& candidate : knob.candidates) candidates.push_back(value_text(knob, candidate));
  fail(name, "one of " + join(", ", candidates) + " for " + knob.name + " of " + stage, value, {});
}

// Throws unless the value was taken.
void expect_taken(const NamedValue& named, const std::vector<Decision>& decisions, const std::string& name) {
  for (const Decision& decision : decisions)
    for (const SpaceKnob& knob : decision.space.knobs)
      if (decision.stage == named.stage && knob.name == named.knob && candidate_of(knob, named.value)) return;
  std::vector<std::string> stages, knobs;
  for (const Decision& decision : decisions) {
    if (std::ranges::find(stages, decision.stage) == stages.end()) stages.push_back(decision.stage);
    if (decision.stage != named.stage) continue;
    for (const SpaceKnob& knob : decision.space.knobs) {
      knobs.push_back(knob.name);
      if (knob.name != named.knob) continue;
      fail_at_candidate(name, named.stage, knob, named.value);
    }
  }
  if (stages.empty())
    fail(name, "no values, because the default schedule of this function has no knobs", named.stage, {});
  if (knobs.empty()) fail(name, "a stage with knobs (" + join(", ", stages) + ")", named.stage, stages);
  fail(name, "a knob of " + named.stage + " (" + join(", ", knobs) + ")", named.knob, knobs);
}

// Throws for a schedule that is legal only at the given sizes.
DecidedSchedule decide_anywhere(const lang::Program& program, const Target& target, const Sizes& sizes,
                                const Chooser& choose, const std::string& name) {
  const Sizes known = sizes_of_space(program, target, sizes);
  DecidedSchedule decided = decide_schedule(program, target, known, choose);
  if (!known.empty() && !decided.at_sizes)
    throw CompileError(name + ": expected a point whose schedule is legal at any size of '" + program.name +
                       "'; with these values it is legal only where the sizes are fixed");
  return decided;
}

}  // namespace

Sizes sizes_of_space(const lang::Program& program, const Target& target, const Sizes& sizes) {
  if (sizes.empty() || !decide_schedule(program, target, sizes, choose_default).at_sizes) return {};
  return sizes;
}

DecidedSchedule decide_at(const lang::Program& program, const Target& target, const Sizes& sizes,
                          std::span<const NamedValue> values, const std::string& name) {
  DecidedSchedule decided = decide_anywhere(
      program, target, sizes, [&](const Decision& decision) { return point_of(decision, values); }, name);
  for (const NamedValue& value : values) expect_taken(value, decided.decisions, name);
  return decided;
}

DecidedSchedule decide_in_order(const lang::Program& program, const Target& target, const Sizes& sizes,
                                std::span<const std::string> values, const std::string& name) {
  std::size_t used = 0;
  const auto choose = [&](const Decision& decision) {
    std::map<std::string, KnobValue> chosen;
    for (const SpaceKnob& knob : decision.space.knobs) {
      if (used == values.size()) {
        chosen.emplace(knob.name, knob.default_value());
        continue;
      }
      const std::string& value = values[used++];
      const std::optional<KnobValue> candidate = candidate_of(knob, value);
      if (!candidate) fail_at_candidate(name, decision.stage, knob, value);
      chosen.emplace(knob.name, *candidate);
    }
    return Point(std::move(chosen));
  };
  DecidedSchedule decided = decide_anywhere(program, target, sizes, choose, name);
  if (used < values.size())
    throw CompileError(name + ": expected at most " + std::to_string(used) + " values, got " +
                       std::to_string(values.size()));
  return decided;
}

std::vector<DecidedSchedule> decide_module_at(std::span<const lang::Program> programs, const PointText& point,
                                              const Target& target, const std::vector<std::string>& others,
                                              const Sizes& sizes) {
  if (!point.in_order.empty()) {
    if (programs.size() != 1)
      throw CompileError(point.name + ": expected one function for values in order, got " +
                         std::to_string(programs.size()));
    return {decide_in_order(programs[0], target, sizes, point.in_order, point.name)};
  }
  std::vector<std::string> known;
  for (const lang::Program& program : programs) known.push_back(program.name);
  for (const std::string& other : others)
    if (std::ranges::find(known, other) == known.end()) known.push_back(other);
  std::vector<FunctionPoint> parts = parse_point(point);
  if (parts.size() == 1 && programs.size() == 1) parts[0].function = programs[0].name;
  if (parts[0].function.empty() && !parts[0].values.empty())
    throw CompileError(point.name + ": expected 'def NAME' before the first stage, as the " +
                       (parts.size() > 1 ? "point has parts for functions"
                                         : "kernel has several functions (" + join(", ", known) + ")"));
  for (const FunctionPoint& part : parts)
    if (!part.function.empty() && std::ranges::find(known, part.function) == known.end())
      fail(point.name, "a function of the kernel (" + join(", ", known) + ")", part.function, known);
  std::vector<DecidedSchedule> decided;
  for (const lang::Program& program : programs) {
    const auto part = std::ranges::find(parts, program.name, &FunctionPoint::function);
    decided.push_back(decide_at(program, target, sizes,
                                part == parts.end() ? std::span<const NamedValue>() : std::span(part->values),
                                point.name));
  }
  return decided;
}

}  // namespace ferry::autoschedule
