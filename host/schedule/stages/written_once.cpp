#include "host/schedule/stages/written_once.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::schedule {

using analysis::loads_of;

namespace {

// Returns the axes of a stage with these values, including those of its reduction.
std::vector<ir::Axis> all_axes(const ScheduledStage& stage, const std::vector<Expr>& values) {
  std::vector<ir::Axis> axes = stage.axes;
  if (const auto* reduce = values.front().as<ir::Reduce>())
    axes.insert(axes.end(), reduce->axes.begin(), reduce->axes.end());
  return axes;
}

bool is_same_point(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), ir::equal);
}

bool contains(const std::vector<Expr>& variables, const Expr& variable) {
  return std::any_of(variables.begin(), variables.end(), [&](const Expr& one) { return one.same_as(variable); });
}

}  // namespace

std::string why_not_once(const ScheduledStage& stage, const ScheduledStage& at, const std::vector<Expr>& values,
                         const StageLoops& loops, std::size_t loop) {
  const std::string reader = "'" + at.name + "'";
  if (at.compute_kind != ComputeKind::root) return reader + ", which is itself computed inside of other loops";
  std::vector<const ir::Load*> uses;
  for (const Expr& value : values)
    for (const ir::Load* load : loads_of(value))
      if (std::find(stage.outputs.begin(), stage.outputs.end(), load->buffer) != stage.outputs.end())
        uses.push_back(load);
  if (uses.empty()) return reader + ", which reads it through other stages alone";
  const std::vector<Expr>& point = uses.front()->indices;
  for (const ir::Load* use : uses)
    if (!is_same_point(use->indices, point)) return reader + ", which reads it at several points";

  const std::vector<ir::Axis> axes = all_axes(at, values);
  for (std::size_t d = 0; d < point.size(); ++d) {
    const auto axis =
        std::find_if(axes.begin(), axes.end(), [&](const ir::Axis& one) { return one.var.same_as(point[d]); });
    const bool covers = axis != axes.end() && ir::is_constant(axis->min, 0) &&
                        ir::equal(axis->extent, stage.axes[d].extent) &&
                        std::none_of(point.begin(), point.begin() + static_cast<std::ptrdiff_t>(d),
                                     [&](const Expr& other) { return other.same_as(point[d]); });
    if (!covers) return reader + ", whose index " + std::to_string(d + 1) + " is no axis that runs over all of it";
  }
  for (const std::size_t id : loops.order()) {
    for (const StageLoops::AxisValue& axis : loops.axis_values())
      if (ir::uses_var(axis.value, loops.loop(id).var) && !contains(point, axis.axis))
        return "the loop '" + loops.loop(id).name + "' of " + reader + ", whose iterations need the same elements";
    if (id == loop) break;
  }
  return "";
}

}  // namespace ferry::schedule
