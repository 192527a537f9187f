#include "host/tune/network/chosen_schedules.h"

#include "base/hash_stream.h"
#include "host/tune/task/program_hash.h"

namespace ferry::tune {

std::optional<TunedSchedule> ChosenSchedules::find(const lang::Program& program,
                                                   const std::map<std::string, std::int64_t>& sizes, const Target&,
                                                   const ScheduleText* schedule, const NetworkIdentity&) const {
  if (schedule != nullptr) return std::nullopt;
  const auto found = points_.find(program_hash(program, sizes));
  return found == points_.end() ? std::nullopt : std::optional(TunedSchedule{found->second, {}, {}});
}

Hash ChosenSchedules::identity(const Target&) const {
  HashStream hash;
  for (const auto& [program, values] : points_) {
    hash.add(program);
    for (const std::string& value : values)
      hash.add({reinterpret_cast<const std::uint8_t*>(value.c_str()), value.size() + 1});
  }
  return hash.finish();
}

}  // namespace ferry::tune
