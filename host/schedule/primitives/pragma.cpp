// Gives a hint for one loop. `auto_unroll_max_step N`: serial loops inside it with constant extents are unrolled,
// innermost first, as long as there are at most N copies of the body.
#include "host/schedule/primitives/primitives.h"

#include "host/lang/names.h"

namespace ferry::schedule {

void pragma(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const std::size_t axis = args.axis(*stage);
  const std::string key = args.name("a key");
  if (key != "auto_unroll_max_step")
    args.fail("a known key (auto_unroll_max_step)", "'" + key + "'" + lang::suggestion(key, {"auto_unroll_max_step"}));
  const std::int64_t steps = args.integer("a number of steps");
  if (steps < 0) args.fail("a number of steps of at least 0", std::to_string(steps));
  args.end();
  stage->unroll_steps[axis] = steps;
}

}  // namespace ferry::schedule
