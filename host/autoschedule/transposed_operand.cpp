#include "host/autoschedule/transposed_operand.h"

#include <algorithm>

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/transposed.h"

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;
using schedule::Stages;

namespace {

constexpr std::int64_t kLeastLanes = 4, kElementBytes = 4;

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool computes_elements(const ScheduledStage& stage) {
  return stage.values.size() == 1 && stage.reduction() == nullptr && stage.sequence == nullptr &&
         stage.external == nullptr && stage.place.empty() &&
         dtype_bytes(stage.outputs[0]->dtype) == static_cast<std::size_t>(kElementBytes);
}

// Whether the load reads the element of the stage's own point.
bool is_own_element(const Load& load, const ScheduledStage& stage) {
  return std::ranges::equal(load.indices, stage.axes, [](const Expr& index, const Axis& axis) {
    const auto* var = index.as<Var>();
    return var != nullptr && index.get() == axis.var.get();
  });
}

// Returns the stage that reads the elements of another at its own points, if it is the only one and reads each once.
const ScheduledStage* single_reader(const Stages& stages, const ScheduledStage& of) {
  const ScheduledStage* reader = nullptr;
  for (const ScheduledStage& stage : stages) {
    for (const Expr& value : stage.expressions()) {
      for (const Load* load : loads_of(value)) {
        if (load->buffer != of.outputs[0]) continue;
        if (reader != nullptr || !is_own_element(*load, stage)) return nullptr;
        reader = &stage;
      }
    }
  }
  return reader;
}

// Returns the axis along which the only load of a copy is contiguous, if it is strided along the last one.
std::optional<std::size_t> axis_in_memory(const ScheduledStage& stage, std::int64_t tile) {
  const auto* load = stage.values[0].as<Load>();
  if (load == nullptr || stage.axes.size() < 2 || load->mask.defined() ||
      access_stride(*load, stage.axes.back().var) != AccessStride::strided)
    return std::nullopt;
  const std::int64_t columns = constant_extent(stage.axes.back().extent);
  if (columns != 0 && columns < kLeastLanes) return std::nullopt;
  for (std::size_t a = 0; a + 1 < stage.axes.size(); ++a) {
    const std::int64_t rows = constant_extent(stage.axes[a].extent);
    if (access_stride(*load, stage.axes[a].var) == AccessStride::contiguous && (rows == 0 || rows >= tile)) return a;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TransposedOperand> find_transposed_operand(const Stages& stages, const std::vector<std::string>& inlined,
                                                         const Target& target) {
  if (static_cast<std::size_t>(std::ranges::count_if(
          stages, [&](const ScheduledStage& stage) { return !is_listed(inlined, stage.name); })) != 1)
    return std::nullopt;
  for (const ScheduledStage& stage : stages) {
    if (!is_listed(inlined, stage.name) || !computes_elements(stage)) continue;
    const std::int64_t tile = transposed_tile(native_lanes(stage, target));
    if (tile < kLeastLanes) continue;
    const std::optional<std::size_t> axis = axis_in_memory(stage, tile);
    if (!axis) continue;
    bool reads_others = false;
    const ScheduledStage* reader = single_reader(stages, stage);
    for (; reader != nullptr && computes_elements(*reader); reader = single_reader(stages, *reader)) {
      reads_others |= loads_of(reader->values[0]).size() > 1;
      if (is_listed(inlined, reader->name)) continue;
      // A stage that reads nothing else is a transposition as a whole.
      if (reads_others && reader->axes.size() == stage.axes.size()) return {{stage.name, reader->name, *axis}};
      break;
    }
  }
  return std::nullopt;
}

Match match_transposed_operand(const StageContext& context, const TransposedOperand& operand) {
  const std::int64_t native = transposed_tile(native_lanes(context.stage, context.target));
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "columns"},
                                 {{native / 2, native}, {native, native}, {native, 2 * native}, {native, native / 2}},
                                 {native, native})};
  match.apply = [operand](Schedule& schedule, const Point& point) {
    StageHandle handle = schedule[operand.reader];
    const KnobValue& tile = point["tile"];
    const StageLoops loops = stage_of(schedule, handle).loops;
    const std::size_t last = stage_of(schedule, handle).axes.size() - 1;
    const auto name = [&](std::size_t axis) { return loops.loop(loops.spatial(axis)).name; };
    const auto [rows, row] = handle.split(name(operand.axis), tile[0]);
    const auto [columns, lane] = handle.split(name(last), tile[1]);
    std::vector<std::string> order;
    for (std::size_t a = 0; a < last; ++a) order.push_back(a == operand.axis ? rows : name(a));
    order.insert(order.end(), {columns, row, lane});
    handle.reorder(order).unroll(row).vectorize(lane);
    StageHandle copy = schedule[operand.stage];
    copy.compute_at(operand.reader, columns);
    const StageLoops own = stage_of(schedule, copy).loops;
    const auto own_name = [&](std::size_t axis) { return own.loop(own.spatial(axis)).name; };
    order.clear();
    for (std::size_t a = 0; a <= last; ++a)
      if (a != operand.axis) order.push_back(own_name(a));
    order.push_back(own_name(operand.axis));
    copy.reorder(order).unroll(own_name(last)).vectorize(own_name(operand.axis));
    return Scheduled{.epilogues = {operand.stage, operand.reader}, .outermost = operand.reader};
  };
  return match;
}

}  // namespace ferry::autoschedule
