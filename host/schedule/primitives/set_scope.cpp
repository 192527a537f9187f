// Sets the memory scope of an intermediate tensor: `global` is the call's workspace, `local` (or `register`) the stack
// of the running thread or, for small tiles whose indices are all constant after unrolling, its registers.
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/primitives.h"

namespace ferry::schedule {

void set_scope(Stages&, ScheduledStage* stage, DirectiveArgs& args) {
  const ir::Scope scope = args.scope();
  args.end();
  expect_intermediate(*stage, args);
  stage->scope = scope;
}

}  // namespace ferry::schedule
