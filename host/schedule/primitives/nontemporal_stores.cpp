// Stores a result with non-temporal stores, where the device has them: for tensors much larger than the caches, whose
// lines would otherwise be read before they are overwritten and would evict data still in use. This applies to whole
// vectors aligned to their size; other stores stay ordinary.
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void nontemporal_stores(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  args.end();
  if (!stage->is_result) args.fail("a result of the kernel", "'" + stage->name + "', which other stages read");
  stage->nontemporal = true;
}

}  // namespace ferry::schedule
