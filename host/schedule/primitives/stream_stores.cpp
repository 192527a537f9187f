// Stores a result past the caches, where the device can: for tensors much larger than those, whose lines would
// otherwise be read before they are overwritten, and push out what is still wanted. Whole vectors that start at a
// multiple of their size are stored so; the others as ever.
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void stream_stores(Stages&, ScheduledStage* stage, Words& words) {
  words.end();
  if (!stage->is_result) words.fail("a result of the kernel", "'" + stage->name + "', which other stages read");
  stage->streams = true;
}

}  // namespace ferry::schedule
