#include "host/autoschedule/space.h"

#include <algorithm>
#include <limits>

namespace ferry::autoschedule {

namespace {

SpaceKnob with_default(SpaceKnob knob, const KnobValue& value) {
  const auto found = std::find(knob.candidates.begin(), knob.candidates.end(), value);
  knob.default_index = static_cast<std::size_t>(found - knob.candidates.begin());
  if (found == knob.candidates.end()) knob.candidates.push_back(value);
  return knob;
}

}  // namespace

const char* kind_name(KnobKind kind) {
  switch (kind) {
    case KnobKind::tile: return "tile";
    case KnobKind::order: return "order";
    case KnobKind::flag: return "flag";
    case KnobKind::unroll: return "unroll";
    case KnobKind::grain: return "grain";
  }
  return "";
}

SpaceKnob flag_knob(std::string name, bool is_default) {
  return {std::move(name), KnobKind::flag, {{0}, {1}}, is_default ? 1U : 0U};
}

SpaceKnob number_knob(std::string name, KnobKind kind, std::vector<std::int64_t> candidates,
                      std::int64_t default_value) {
  candidates.push_back(default_value);
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  SpaceKnob knob{std::move(name), kind, {}};
  for (const std::int64_t candidate : candidates) knob.candidates.push_back({candidate});
  return with_default(std::move(knob), {default_value});
}

SpaceKnob tile_knob(std::string name, std::vector<std::string> parts, std::vector<KnobValue> candidates,
                    const KnobValue& default_value) {
  SpaceKnob knob{std::move(name), KnobKind::tile, std::move(candidates)};
  knob.parts = std::move(parts);
  return with_default(std::move(knob), default_value);
}

SpaceKnob order_knob(std::string name, std::vector<std::string> labels, std::size_t default_index) {
  SpaceKnob knob{std::move(name), KnobKind::order, {}};
  for (std::size_t i = 0; i < labels.size(); ++i) knob.candidates.push_back({static_cast<std::int64_t>(i)});
  knob.default_index = default_index;
  knob.labels = std::move(labels);
  return knob;
}

SpaceKnob for_threads(SpaceKnob knob) {
  knob.is_for_threads = true;
  return knob;
}

std::int64_t Point::number(const std::string& knob, std::int64_t without) const {
  const auto found = values_.find(knob);
  return found == values_.end() ? without : found->second.at(0);
}

bool Point::flag(const std::string& knob) const { return number(knob, 0) != 0; }

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::uint64_t Space::size() const {
  std::uint64_t points = 1;
  for (const SpaceKnob& knob : knobs) points = saturating_product(points, knob.candidates.size());
  return points;
}

Point Space::default_point() const {
  std::map<std::string, KnobValue> values;
  for (const SpaceKnob& knob : knobs) values.emplace(knob.name, knob.default_value());
  return Point(std::move(values));
}

bool Space::contains(const Point& point) const {
  return point.values().size() == knobs.size() && std::all_of(knobs.begin(), knobs.end(), [&](const SpaceKnob& knob) {
           const auto value = point.values().find(knob.name);
           return value != point.values().end() &&
                  std::find(knob.candidates.begin(), knob.candidates.end(), value->second) != knob.candidates.end();
         });
}

std::string value_text(const SpaceKnob& knob, const KnobValue& value) {
  if (knob.kind == KnobKind::flag) return value.at(0) != 0 ? "yes" : "no";
  if (!knob.labels.empty()) return knob.labels.at(static_cast<std::size_t>(value.at(0)));
  std::string text;
  for (const std::int64_t number : value) text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

std::string to_text(const SpaceKnob& knob, const KnobValue& chosen) {
  std::string text = knob.name;
  for (std::size_t i = 0; i < knob.parts.size(); ++i) text += (i == 0 ? " " : " x ") + knob.parts[i];
  for (std::size_t i = 0; i < knob.candidates.size(); ++i) {
    const std::string value = value_text(knob, knob.candidates[i]);
    text += (i == 0 ? ": " : ", ") + (knob.candidates[i] == chosen ? "[" + value + "]" : value);
  }
  return text;
}

}  // namespace ferry::autoschedule
