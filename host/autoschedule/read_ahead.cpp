#include "host/autoschedule/read_ahead.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <set>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::Loop;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;
using schedule::Stages;

namespace {

// Maximum number of unrolled vectors of all streams together, which limits the size of the code.
constexpr std::int64_t kMaxUnrolledVectors = 72;
// Minimum number of iterations left for the threads if the outermost loop is split.
constexpr std::int64_t kMinThreadIterations = 64;

bool moves_in_steps(const Load& load, const ScheduledStage& stage) {
  return std::any_of(stage.axes.begin(), stage.axes.end(),
                     [&](const Axis& axis) { return access_stride(load, axis.var) == AccessStride::small; });
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

// Returns the numbers of streams that divide the rows evenly, and always 1.
std::vector<std::int64_t> stream_candidates(const std::vector<std::size_t>& outside, const StageLoops& loops,
                                            std::int64_t unrolled_vectors) {
  std::vector<std::int64_t> numbers = {1};
  if (outside.size() < 2) return numbers;
  const std::int64_t extent = constant_extent(loops.loop(outside[outside.size() - 2]).extent);
  for (const std::int64_t number : {2, 3, 4})
    if (extent != 0 && extent % number == 0 && unrolled_vectors * number <= kMaxUnrolledVectors)
      numbers.push_back(number);
  return numbers;
}

// Returns the largest number that leaves the threads enough iterations, if the stores are non-temporal.
std::int64_t default_streams(const ScheduledStage& stage, const std::vector<std::size_t>& outside,
                             const std::vector<std::int64_t>& candidates) {
  if (!stage.nontemporal) return 1;
  for (std::size_t i = candidates.size(); i-- > 1;) {
    const bool is_outermost = outside.size() == 2;
    const std::int64_t extent = constant_extent(stage.loops.loop(outside[outside.size() - 2]).extent);
    if (!is_outermost || extent / candidates[i] >= kMinThreadIterations) return candidates[i];
  }
  return 1;
}

// Lets `number` consecutive iterations of the loop around the row's loop alternate inside the latter.
void alternate(StageHandle handle, const StageLoops& loops, const std::vector<std::size_t>& outside,
               std::int64_t number) {
  const std::string row = loops.loop(outside.back()).name;
  const std::string inner = handle.split(loops.loop(outside[outside.size() - 2]).name, number).second;
  std::vector<std::string> order = names_in_order(loops);
  order.erase(std::find(order.begin(), order.end(), inner));
  order.insert(std::find(order.begin(), order.end(), row) + 1, inner);
  handle.reorder(order).unroll(inner);
}

}  // namespace

std::optional<Match> match_read_ahead(const StageContext& context, std::int64_t unrolled_vectors) {
  const ScheduledStage& stage = context.stage;
  const std::set<std::string> tensors = tensors_ahead(context.schedule.stages(), stage, context.target);
  const std::vector<std::size_t> outside = outer_loops(stage.loops);
  if (!context.target.capabilities.row_prefetch || tensors.empty() || outside.empty()) return std::nullopt;
  const std::vector<std::int64_t> streams = stream_candidates(outside, stage.loops, unrolled_vectors);
  const std::int64_t by_default = default_streams(stage, outside, streams);
  Match match;
  match.space.knobs = {number_knob("streams", KnobKind::unroll, streams, by_default),
                       number_knob("ahead", KnobKind::grain, {0, 1, 2, 3, 4}, by_default > 1 ? 1 : 2)};
  match.apply = [name = stage.name, tensors, outside](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[name];
    const StageLoops& loops = stage_of(schedule, handle).loops;
    const std::string row = loops.loop(outside.back()).name;
    if (point.number("streams") > 1) alternate(handle, loops, outside, point.number("streams"));
    if (point.number("ahead") > 0)
      for (const std::string& tensor : tensors)
        handle.apply("prefetch", {tensor, row, std::to_string(point.number("ahead"))});
    return Scheduled{.outermost = name};
  };
  return match;
}

}  // namespace ferry::autoschedule
