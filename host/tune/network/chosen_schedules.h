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

class ChosenSchedules final : public TunedSchedules {
 public:
  explicit ChosenSchedules(ChosenPoints points) : points_(std::move(points)) {}

  std::optional<TunedSchedule> find(const lang::Program& program, const std::map<std::string, std::int64_t>& sizes,
                                    const Target& target, const ScheduleText* schedule,
                                    const NetworkIdentity& network) const override;
  std::optional<TunedAlgorithm> find_algorithm(const lang::Program& program, std::span<const OtherAlgorithm> others,
                                               const Target& target, const NetworkIdentity& network) const override;
  Hash identity(const Target& target) const override;

 private:
  ChosenPoints points_;
};

}  // namespace ferry::tune
