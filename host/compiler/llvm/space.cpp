#include "host/compiler/llvm/space.h"

#include <nlohmann/json.hpp>

namespace ferry {

namespace {

using Json = nlohmann::ordered_json;

// A number, or an array of several; a flag as a bool, an order by its label.
Json value_json(const autoschedule::SpaceKnob& knob, const autoschedule::KnobValue& value) {
  if (knob.kind == autoschedule::KnobKind::flag) return value[0] != 0;
  if (!knob.labels.empty()) return autoschedule::value_text(knob, value);
  return value.size() == 1 ? Json(value[0]) : Json(value);
}

Json knob_json(const autoschedule::SpaceKnob& knob) {
  Json json = {{"name", knob.name}, {"kind", autoschedule::kind_name(knob.kind)}};
  if (!knob.parts.empty()) json["parts"] = knob.parts;
  json["default"] = value_json(knob, knob.default_value());
  json["candidates"] = Json::array();
  for (const autoschedule::KnobValue& candidate : knob.candidates)
    json["candidates"].push_back(value_json(knob, candidate));
  return json;
}

}  // namespace

std::vector<FunctionSpace> spaces_of(std::span<const lang::Program> programs, const Target& target,
                                     const autoschedule::Sizes& sizes) {
  std::vector<FunctionSpace> spaces;
  for (const lang::Program& program : programs)
    spaces.push_back(
        {program.name, autoschedule::decide_schedule(program, target, sizes, autoschedule::choose_default).decisions});
  return spaces;
}

std::string space_text(std::span<const FunctionSpace> spaces) {
  std::string text;
  for (const FunctionSpace& space : spaces) {
    const std::uint64_t points = autoschedule::points_of(space.decisions);
    if (!text.empty()) text += "\n";
    text += "def " + space.function + ": " + std::to_string(points) + (points == 1 ? " point\n" : " points\n");
    for (const autoschedule::Decision& decision : space.decisions) text += to_text(decision);
  }
  return text;
}

std::string space_json(std::span<const FunctionSpace> spaces) {
  Json json = Json::array();
  for (const FunctionSpace& space : spaces) {
    Json decisions = Json::array();
    for (const autoschedule::Decision& decision : space.decisions) {
      Json knobs = Json::array();
      for (const autoschedule::SpaceKnob& knob : decision.space.knobs) knobs.push_back(knob_json(knob));
      decisions.push_back({{"stage", decision.stage},
                           {"rule", decision.rule},
                           {"points", decision.space.size()},
                           {"knobs", std::move(knobs)}});
    }
    json.push_back({{"name", space.function},
                    {"points", autoschedule::points_of(space.decisions)},
                    {"decisions", std::move(decisions)}});
  }
  return json.dump();
}

}  // namespace ferry
