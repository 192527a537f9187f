// Schedules that tuning has found, in place of default ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ferry/hash.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule_text.h"
#include "ferry/target/target.h"

namespace ferry {

// The best schedule that is known for a program at the sizes of a call.
struct TunedSchedule {
  // PointText::in_order; of a schedule of the user's own a value for each of its knobs, in the order of their names.
  std::vector<std::string> values;
  // The same for people: "C: tile=4x2, order=rows_outside".
  std::string point;
  // Tells where it comes from: "from tuned.jsonl: 1.31 times as fast as the default".
  std::string note;
};

// A kernel of a network with another algorithm than the compiler has chosen for it by estimates, as a program by
// itself.
struct OtherAlgorithm {
  std::string name;    // "winograd2"
  std::string kernel;  // its name in a network that computes it so
  lang::Program program;
  double ratio = 1;  // its estimated time over that of the compiler's choice
};

// The best algorithm that is known for a kernel, and the schedule of its program.
struct TunedAlgorithm {
  std::string name;
  TunedSchedule schedule;
};

// The layouts that the compiler has chosen by estimates for the groups of nodes of a network that one kernel computes.
struct LayoutQuestion {
  Hash key{};              // hash of the network as it is when they are chosen, and of the known sizes
  std::string by_default;  // a digit for each group: 1 if its images have their channels in blocks
};

// The best layouts that are known for a network.
struct TunedLayouts {
  std::string layouts;  // as LayoutQuestion::by_default
  std::string note;     // tells where they come from
};

// A network that a program is a kernel of.
struct NetworkIdentity {
  std::string name = {};  // empty: the program runs by itself
  Hash graph{};           // hash of its operators with their attributes, types and shapes
};

// Threads may share one.
class TunedSchedules {
 public:
  virtual ~TunedSchedules() = default;
  // `sizes` are those of the call that are not fixed in the program, `schedule` is the user's own or null, and
  // `network` has the program as a kernel. Nothing if the default, or the first choice of each knob, is the best that
  // is known.
  virtual std::optional<TunedSchedule> find(const lang::Program& program,
                                            const std::map<std::string, std::int64_t>& sizes, const Target& target,
                                            const ScheduleText* schedule, const NetworkIdentity& network) const = 0;
  // Returns the best that is known for a kernel of a network, a program with all sizes fixed, if it is to be computed
  // by one of these other algorithms. Nothing if it keeps its own.
  virtual std::optional<TunedAlgorithm> find_algorithm(const lang::Program& program,
                                                       std::span<const OtherAlgorithm> others, const Target& target,
                                                       const NetworkIdentity& network) const = 0;
  // Returns the best layouts that are known for a network. Nothing if it keeps those of the compiler.
  virtual std::optional<TunedLayouts> find_layouts(const LayoutQuestion& question, const Target& target,
                                                   const NetworkIdentity& network) const = 0;
  // Returns a hash of all that these may return without a schedule of the user's own.
  virtual Hash identity(const Target& target) const = 0;
};

}  // namespace ferry
