#include "host/tune/network/chosen_schedules.h"

#include "base/hash_stream.h"
#include "host/tune/task/program_hash.h"

namespace ferry::tune {

std::optional<TunedSchedule> ChosenSchedules::find(const lang::Program& program,
                                                   const std::map<std::string, std::int64_t>& sizes, const Target&,
                                                   const ScheduleText* schedule, const NetworkIdentity&) const {
  if (schedule != nullptr) return std::nullopt;
  const auto found = points_.find(program_hash(program, sizes));
  if (found == points_.end() || !found->second.algorithm.empty()) return std::nullopt;
  return TunedSchedule{found->second.values, {}, {}};
}

std::optional<TunedAlgorithm> ChosenSchedules::find_algorithm(const lang::Program& program,
                                                              std::span<const OtherAlgorithm>, const Target&,
                                                              const NetworkIdentity&) const {
  const auto found = points_.find(program_hash(program, {}));
  if (found == points_.end() || found->second.algorithm.empty()) return std::nullopt;
  return TunedAlgorithm{found->second.algorithm, {found->second.values, {}, {}}};
}

std::optional<TunedLayouts> ChosenSchedules::find_layouts(const LayoutQuestion& question, const Target&,
                                                          const NetworkIdentity&) const {
  if (layouts_.layouts.empty() || question.key != layouts_.key) return std::nullopt;
  return TunedLayouts{layouts_.layouts, {}};
}

Hash ChosenSchedules::identity(const Target&) const {
  HashStream hash;
  const auto add = [&](const std::string& text) {
    hash.add({reinterpret_cast<const std::uint8_t*>(text.c_str()), text.size() + 1});
  };
  hash.add(layouts_.key);
  add(layouts_.layouts);
  for (const auto& [program, point] : points_) {
    hash.add(program);
    add(point.algorithm);
    for (const std::string& value : point.values) add(value);
  }
  return hash.finish();
}

}  // namespace ferry::tune
