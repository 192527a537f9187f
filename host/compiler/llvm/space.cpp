#include "host/compiler/llvm/space.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "host/autoschedule/decide_at.h"
#include "host/compiler/llvm/scheduled_programs.h"

namespace ferry {

namespace {

using Json = nlohmann::ordered_json;

// A number, or an array of several; a flag as a bool, an order by its label.
Json value_json(const autoschedule::SpaceKnob& knob, const autoschedule::KnobValue& value) {
  if (knob.kind == autoschedule::KnobKind::flag) return value[0] != 0;
  if (!knob.labels.empty()) return autoschedule::value_text(knob, value);
  return value.size() == 1 ? Json(value[0]) : Json(value);
}

Json knob_json(const autoschedule::SpaceKnob& knob, const autoschedule::Point& point) {
  Json json = {{"name", knob.name}, {"kind", autoschedule::kind_name(knob.kind)}};
  if (!knob.parts.empty()) json["parts"] = knob.parts;
  json["default"] = value_json(knob, knob.default_value());
  json["chosen"] = value_json(knob, point[knob.name]);
  json["candidates"] = Json::array();
  for (const autoschedule::KnobValue& candidate : knob.candidates)
    json["candidates"].push_back(value_json(knob, candidate));
  return json;
}

}  // namespace

std::vector<FunctionSpace> spaces_of(const Scheduled& scheduled, const Target& target) {
  std::vector<autoschedule::DecidedSchedule> decided = autoschedule::decide_module_at(
      scheduled.programs, scheduled.point.value_or(PointText()), target, scheduled.others, scheduled.sizes);
  std::vector<FunctionSpace> spaces, of_sizes;
  for (std::size_t i = 0; i < decided.size(); ++i)
    spaces.push_back({scheduled.programs[i].name, std::move(decided[i])});
  for (const TunedFunction& tuned : scheduled.tuned) {
    const lang::Program& program = scheduled.programs[tuned.program];
    const auto decide = [&](const lang::Program& one, const SizesByName& sizes) {
      return autoschedule::decide_module_at(std::span(&one, 1), point_of(tuned.schedule, program), target,
                                            scheduled.others, sizes)
          .front();
    };
    if (tuned.fixed)
      of_sizes.push_back({sized_name(program.name, scheduled.programs), decide(*tuned.fixed, {})});
    else
      spaces[tuned.program].decided = decide(program, scheduled.sizes);
  }
  std::ranges::move(of_sizes, std::back_inserter(spaces));
  return spaces;
}

std::string space_text(std::span<const FunctionSpace> spaces) {
  std::string text;
  for (const auto& [function, decided] : spaces) {
    const std::uint64_t points = autoschedule::points_of(decided.decisions);
    if (!text.empty()) text += "\n";
    text += "def " + function + ": " + std::to_string(points) + (points == 1 ? " point\n" : " points\n");
    for (std::size_t d = 0; d < decided.decisions.size(); ++d) text += to_text(decided.decisions[d], decided.points[d]);
  }
  return text;
}

std::string space_json(std::span<const FunctionSpace> spaces) {
  Json json = Json::array();
  for (const auto& [function, decided] : spaces) {
    Json decisions = Json::array();
    for (std::size_t d = 0; d < decided.decisions.size(); ++d) {
      const autoschedule::Decision& decision = decided.decisions[d];
      Json knobs = Json::array();
      for (const autoschedule::SpaceKnob& knob : decision.space.knobs)
        knobs.push_back(knob_json(knob, decided.points[d]));
      decisions.push_back({{"stage", decision.stage},
                           {"rule", decision.rule},
                           {"points", decision.space.size()},
                           {"knobs", std::move(knobs)}});
    }
    json.push_back({{"name", function},
                    {"points", autoschedule::points_of(decided.decisions)},
                    {"point", point_text(decided)},
                    {"decisions", std::move(decisions)}});
  }
  return json.dump();
}

std::string points_text(std::span<const FunctionSpace> spaces) {
  std::string text;
  for (const auto& [function, decided] : spaces)
    text += (text.empty() ? "def " : "\ndef ") + function + "\n" + point_text(decided);
  return text;
}

std::string points_json(std::span<const FunctionSpace> spaces) {
  Json json = Json::array();
  for (const auto& [function, decided] : spaces) json.push_back({{"name", function}, {"point", point_text(decided)}});
  return json.dump();
}

SpacePoint space_point(const autoschedule::DecidedSchedule& decided) {
  SpacePoint point{.text = point_text(decided),
                   .knobs = {},
                   .points = autoschedule::points_of(decided.decisions),
                   .schedule = decided.schedule.to_text()};
  for (std::size_t d = 0; d < decided.decisions.size(); ++d) {
    const autoschedule::Decision& decision = decided.decisions[d];
    for (const autoschedule::SpaceKnob& knob : decision.space.knobs) {
      const auto chosen = std::ranges::find(knob.candidates, decided.points[d][knob.name]);
      PointKnob& one = point.knobs.emplace_back(PointKnob{decision.stage, knob.name, {}});
      one.chosen = static_cast<std::size_t>(chosen - knob.candidates.begin());
      one.default_index = knob.default_index;
      one.is_for_threads = knob.is_for_threads;
      one.has_labels = !knob.labels.empty();
      one.has_numbers = !one.has_labels && knob.kind != autoschedule::KnobKind::flag;
      for (const autoschedule::KnobValue& candidate : knob.candidates)
        one.candidates.push_back(autoschedule::value_text(knob, candidate));
    }
  }
  return point;
}

}  // namespace ferry
