// Schedules that differ from the default, as tuning would have found them.
#pragma once

#include <span>
#include <utility>

#include "host/compiler/api/compiler.h"
#include "host/compiler/api/space_point.h"

namespace ferry::test {

enum class TunedFor : std::uint8_t { fixed_sizes, any_sizes };

// Knows another candidate of the first knob that has several, for all programs with or without open sizes.
class OtherPoint final : public TunedSchedules {
 public:
  OtherPoint(const Compiler& compiler, TunedFor what) : compiler_(compiler), what_(what) {}

  std::optional<TunedSchedule> find(const lang::Program& program, const std::map<std::string, std::int64_t>& sizes,
                                    const Target& target, const ScheduleText*, const NetworkIdentity&) const override {
    if (lang::symbols_of(program).empty() != (what_ == TunedFor::fixed_sizes)) return std::nullopt;
    SpacePoint point = compiler_.space_at({.programs = std::span(&program, 1), .sizes = sizes}, target);
    for (std::size_t k = 0; k < point.knobs.size(); ++k) {
      PointKnob& knob = point.knobs[k];
      if (knob.candidates.size() < 2) continue;
      knob.chosen = knob.chosen == 0 ? 1 : 0;
      std::vector<std::string> values = values_in_order(point);
      values.resize(k + 1);
      return TunedSchedule{std::move(values), knob.name + "=" + knob.candidates[knob.chosen], "another point"};
    }
    return std::nullopt;
  }
  std::optional<TunedAlgorithm> find_algorithm(const lang::Program&, std::span<const OtherAlgorithm>, const Target&,
                                               const NetworkIdentity&) const override {
    return std::nullopt;
  }
  std::optional<TunedLayouts> find_layouts(const LayoutQuestion&, const Target&,
                                           const NetworkIdentity&) const override {
    return std::nullopt;
  }
  Hash identity(const Target&) const override { return {}; }

 private:
  const Compiler& compiler_;
  TunedFor what_;
};

}  // namespace ferry::test
