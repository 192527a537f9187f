// Computes a stage by loops of its own, outside all others: what every stage starts as.
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void compute_root(Stages&, ScheduledStage* stage, Words& words) {
  words.end();
  stage->place = Place::root;
  stage->store_at.reset();
}

}  // namespace ferry::schedule
