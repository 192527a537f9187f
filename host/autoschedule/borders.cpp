#include "host/autoschedule/borders.h"

#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/blocked_window.h"
#include "host/autoschedule/stencil.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

// Whether a value is the same for all elements: a constant, or the only element of a tensor, perhaps converted.
bool is_same_everywhere(const Expr& expr) {
  if (const auto* cast = expr.as<Cast>()) return is_same_everywhere(cast->value);
  if (const auto* load = expr.as<Load>()) return load->indices.empty();
  return expr.kind() == ExprKind::IntImm || expr.kind() == ExprKind::FloatImm;
}

// Whether the stage is an element of another tensor where the indices are in bounds, and one value elsewhere.
bool is_border(const ScheduledStage& stage) {
  if (stage.is_final() || stage.values.size() != 1 || stage.sequence != nullptr ||
      stage.compute_kind != ComputeKind::root)
    return false;
  const auto* choice = stage.values[0].as<IfThenElse>();
  if (choice == nullptr || !loads_of(choice->condition).empty() || !is_same_everywhere(choice->on_false)) return false;
  const auto* load = choice->on_true.as<Load>();
  return load != nullptr && loads_of(choice->on_true).size() == 1;
}

}  // namespace

std::string attached_border(const Stages& stages, const ScheduledStage& window, const Stages& at_any_size) {
  // Windows that read each element only few times take less time than a copy of it.
  constexpr double kMinReuse = 4;
  if (window.axes.size() < 4 || !is_blocked_window(window) || reuse(window) < kMinReuse ||
      !has_open_image(window, &at_any_size))
    return "";
  for (const ScheduledStage& stage : stages) {
    const auto readers = readers_of(stages, stage);
    if (is_border(stage) && readers.size() == 1 && readers[0]->name == window.name &&
        stage.axes.size() == window.axes.size())
      return stage.name;
  }
  return "";
}

std::vector<std::string> borders_to_inline(const Stages& stages, const Stages* at_any_size) {
  std::vector<std::string> names;
  for (const ScheduledStage& stage : stages) {
    if (!is_border(stage)) continue;
    const auto readers = readers_of(stages, stage);
    if (!readers.empty() &&
        std::all_of(readers.begin(), readers.end(),
                    [](const ScheduledStage* reader) { return is_stencil(*reader) || is_blocked_window(*reader); }) &&
        (at_any_size == nullptr || attached_border(stages, *readers[0], *at_any_size) != stage.name))
      names.push_back(stage.name);
  }
  return names;
}

}  // namespace ferry::autoschedule
