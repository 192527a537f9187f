// Schedules that are tried in a network before they count for anything else.
#pragma once

#include "host/compiler/api/tuned_schedules.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ferry::tune {

struct ChosenPoint {
  std::string algorithm;            // empty: the program's own
  std::vector<std::string> values;  // as PointText::in_order, of the program with this algorithm
};

// By program_hash() of programs whose sizes are fixed.
using ChosenPoints = std::map<Hash, ChosenPoint>;

// The layouts of a network, by LayoutQuestion::key.
struct ChosenLayouts {
  Hash key{};
  std::string layouts;  // empty: those of the compiler
};

class ChosenSchedules final : public TunedSchedules {
 public:
  explicit ChosenSchedules(ChosenPoints points, ChosenLayouts layouts = {})
      : points_(std::move(points)), layouts_(std::move(layouts)) {}

  std::optional<TunedSchedule> find(const lang::Program& program, const std::map<std::string, std::int64_t>& sizes,
                                    const Target& target, const ScheduleText* schedule,
                                    const NetworkIdentity& network) const override;
  std::optional<TunedAlgorithm> find_algorithm(const lang::Program& program, std::span<const OtherAlgorithm> others,
                                               const Target& target, const NetworkIdentity& network) const override;
  std::optional<TunedLayouts> find_layouts(const LayoutQuestion& question, const Target& target,
                                           const NetworkIdentity& network) const override;
  Hash identity(const Target& target) const override;

 private:
  ChosenPoints points_;
  ChosenLayouts layouts_;
};

}  // namespace ferry::tune
