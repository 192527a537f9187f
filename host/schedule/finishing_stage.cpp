#include "host/schedule/finishing_stage.h"

#include "host/schedule/stages/access.h"

#include <vector>

namespace ferry::schedule {

using namespace ir;

std::string finishing_stage(const Stages& stages, const ScheduledStage& stage) {
  if (stage.is_final()) return "";
  const std::vector<const ScheduledStage*> readers = readers_of(stages, stage);
  if (readers.size() != 1 || readers[0]->reduction() != nullptr || readers[0]->place != Place::root ||
      readers[0]->external != nullptr || readers[0]->axes.size() != stage.axes.size())
    return "";
  for (const Expr& value : readers[0]->values)
    for (const Load* load : loads_of(value)) {
      if (load->buffer != stage.outputs[0]) continue;
      for (std::size_t a = 0; a < stage.axes.size(); ++a)
        if (!load->indices[a].same_as(readers[0]->axes[a].var)) return "";
    }
  return readers[0]->name;
}

}  // namespace ferry::schedule
