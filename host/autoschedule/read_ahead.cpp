#include "host/autoschedule/read_ahead.h"

#include "host/autoschedule/default_loops.h"
#include "host/schedule/stages/access.h"

#include <algorithm>
#include <optional>
#include <set>

namespace ferry::schedule {

using namespace ir;

namespace {

// Maximum number of unrolled vectors of all streams together, which limits the size of the code.
constexpr std::int64_t kMaxPoints = 72;
// Minimum number of iterations left for the threads if the outermost loop is split.
constexpr std::int64_t kMinShared = 64;

struct Streams {
  std::size_t loop;     // whose consecutive iterations are the streams
  std::int64_t number;  // of streams
};

bool moves_in_steps(const Load& load, const ScheduledStage& stage) {
  return std::any_of(stage.axes.begin(), stage.axes.end(),
                     [&](const Axis& axis) { return step_of(load, axis.var) == Step::skipping; });
}

// Returns the parameters that are read with a stride, whose indices do not depend on memory, and that may exceed the
// cache.
std::set<std::string> tensors_ahead(const Stages& stages, const ScheduledStage& stage, const Target& target) {
  std::set<std::string> names;
  for (const Expr& source : sources_of(stage))
    for (const Load* load : loads_of(source)) {
      const Buffer& tensor = *load->buffer;
      const bool is_parameter = producer_of(stages, &tensor) == nullptr && find_stage(stages, tensor.name) == nullptr;
      const bool is_plain = std::all_of(load->indices.begin(), load->indices.end(),
                                        [](const Expr& index) { return loads_of(index).empty(); });
      const std::int64_t bytes = constant_bytes(tensor);
      const bool is_cached = bytes > 0 && bytes <= l2_bytes(target);
      if (is_parameter && is_plain && !is_cached && moves_in_steps(*load, stage)) names.insert(tensor.name);
    }
  return names;
}

// Returns the serial loops around the window, without those of one iteration.
std::vector<std::size_t> outer_loops(const StageLoops& loops) {
  std::vector<std::size_t> outside;
  for (const std::size_t id : loops.order()) {
    const Loop& loop = loops.loop(id);
    if (loop.reduces || loop.kind != ForKind::serial) break;
    if (!is_constant(loop.extent, 1)) outside.push_back(id);
  }
  return outside;
}

std::optional<Streams> choose_streams(const ScheduledStage& stage, const std::vector<std::size_t>& outside,
                                      std::int64_t points) {
  if (!stage.nontemporal || outside.size() < 2) return std::nullopt;
  const std::size_t loop = outside[outside.size() - 2];
  const std::int64_t extent = constant_extent(stage.loops.loop(loop).extent);
  const bool is_outermost = outside.size() == 2;
  for (const std::int64_t number : {4, 3, 2}) {
    if (extent == 0 || extent % number != 0 || points * number > kMaxPoints) continue;
    if (!is_outermost || extent / number >= kMinShared) return Streams{loop, number};
  }
  return std::nullopt;
}

}  // namespace

void read_ahead(const Schedule& schedule, StageHandle handle, std::int64_t unrolled_points, const Target& target) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  const std::set<std::string> tensors = tensors_ahead(schedule.stages(), stage, target);
  const std::vector<std::size_t> outside = outer_loops(stage.loops);
  if (target.arch != "x86_64" || tensors.empty() || outside.empty()) return;
  const std::string row = stage.loops.loop(outside.back()).name;
  const std::optional<Streams> streams = choose_streams(stage, outside, unrolled_points);
  if (streams) {
    const std::string inner = handle.split(stage.loops.loop(streams->loop).name, streams->number).second;
    std::vector<std::string> order = names_in_order(stage.loops);
    order.erase(std::find(order.begin(), order.end(), inner));
    order.insert(std::find(order.begin(), order.end(), row) + 1, inner);
    handle.reorder(order).unroll(inner);
  }
  for (const std::string& tensor : tensors) handle.apply("prefetch", {tensor, row, streams ? "1" : "2"});
}

}  // namespace ferry::schedule
