#include "host/schedule/primitives/loop_kind.h"

namespace ferry::schedule {

bool may_be_constant(const ScheduledStage& stage, std::size_t loop) {
  return stage.place == Place::attached || ir::as_int(stage.loops.loop(loop).extent) != nullptr;
}

void expect_serial(const ScheduledStage& stage, std::size_t loop, const Words& words) {
  const Loop& what = stage.loops.loop(loop);
  switch (what.kind) {
    case ir::ForKind::serial: return;
    case ir::ForKind::parallel: words.fail("a serial loop", "'" + what.name + "', which is parallel");
    case ir::ForKind::vectorized: words.fail("a serial loop", "'" + what.name + "', which is vectorized");
    case ir::ForKind::unrolled: words.fail("a serial loop", "'" + what.name + "', which is unrolled");
  }
}

}  // namespace ferry::schedule
