// Schedules that tuning has found, in place of default ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/compiler/api/compiler.h"

namespace ferry {

// The best schedule that is known for a program at the sizes of a call.
struct TunedSchedule {
  // PointText::in_order; of a schedule of the user's own a value for each of its knobs, in the order of their names.
  std::vector<std::string> values;
  // Tells where it comes from: "from tuned.jsonl: 1.31 times as fast as the default".
  std::string note;
};

class TunedSchedules {
 public:
  virtual ~TunedSchedules() = default;
  // `sizes` are those of the call that are not fixed in the program, `schedule` is the user's own or null. Nothing if
  // the default, or the first choice of each knob, is the best that is known.
  virtual std::optional<TunedSchedule> find(const lang::Program& program, const SizesByName& sizes,
                                            const Target& target, const ScheduleText* schedule) const = 0;
};

}  // namespace ferry
