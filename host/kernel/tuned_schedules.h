// Schedules that tuning has found, in place of default ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/compiler/api/compiler.h"

namespace ferry {

// The best schedule that is known for a program at the sizes of a call.
struct TunedSchedule {
  std::vector<std::string> values;  // PointText::in_order
  // Tells where it comes from: "from tuned.jsonl: 1.31 times as fast as the default".
  std::string note;
};

class TunedSchedules {
 public:
  virtual ~TunedSchedules() = default;
  // `sizes` are those of the call that are not fixed in the program. Nothing if the default is the best that is known.
  virtual std::optional<TunedSchedule> find(const lang::Program& program, const SizesByName& sizes,
                                            const Target& target) const = 0;
};

}  // namespace ferry
