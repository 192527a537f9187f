// Computes a stage in loops of its own, outside all others: the initial state of every stage.
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void compute_root(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  args.end();
  stage->compute_kind = ComputeKind::root;
  stage->store_at.reset();
}

}  // namespace ferry::schedule
