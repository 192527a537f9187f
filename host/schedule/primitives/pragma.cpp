// Gives a hint for one loop. `auto_unroll_max_step N`: serial loops inside it with constant extents are unrolled,
// innermost first, as long as there are at most N copies of the body.
#include "host/schedule/primitives/primitives.h"

#include "host/lang/names.h"

namespace ferry::schedule {

void pragma(Stages&, ScheduledStage* stage, Words& words) {
  const std::size_t axis = words.axis(*stage);
  const std::string key = words.name("a key");
  if (key != "auto_unroll_max_step")
    words.fail("a known key (auto_unroll_max_step)", "'" + key + "'" + lang::suggestion(key, {"auto_unroll_max_step"}));
  const std::int64_t steps = words.integer("a number of steps");
  if (steps < 0) words.fail("a number of steps of at least 0", std::to_string(steps));
  words.end();
  stage->unroll_steps[axis] = steps;
}

}  // namespace ferry::schedule
