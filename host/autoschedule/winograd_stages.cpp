#include "host/autoschedule/winograd_stages.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

// Transforms are unrolled in both dimensions.
constexpr std::int64_t kMaxPoints = 8;

// A dimension of a load's tensor and the axis of the reader that indexes it.
using Pairs = std::initializer_list<std::pair<std::size_t, std::size_t>>;

bool is_indexed(const Load& load, const ScheduledStage& reader, Pairs pairs) {
  return std::all_of(pairs.begin(), pairs.end(),
                     [&](const auto& pair) { return load.indices[pair.first].same_as(reader.axes[pair.second].var); });
}

// Returns the loads of a stage's only value if all of them are of one tensor with this many dimensions.
std::vector<const Load*> loads_of_one(const ScheduledStage& stage, std::size_t rank) {
  if (stage.values.size() != 1 || stage.reduction() != nullptr) return {};
  std::vector<const Load*> loads = loads_of(stage.values[0]);
  for (const Load* load : loads)
    if (load->buffer != loads[0]->buffer || load->indices.size() != rank) return {};
  return loads;
}

// Returns the only stage that loads the output of this one, whether it is inlined or not.
const ScheduledStage* only_reader(const Stages& stages, const ScheduledStage& stage) {
  const ScheduledStage* found = nullptr;
  for (const ScheduledStage& other : stages) {
    if (!schedule::reads(other, stage.outputs)) continue;
    if (found != nullptr || other.external != nullptr || !other.assertion.empty()) return nullptr;
    found = &other;
  }
  return found;
}

// Whether a schedule may move the stage, which has this many axes and is read by one stage alone.
bool is_intermediate(const Stages& stages, const ScheduledStage& stage, std::size_t axes) {
  return !stage.is_final() && stage.compute_kind == ComputeKind::root && stage.axes.size() == axes &&
         stage.outputs.size() == 1 && only_reader(stages, stage) != nullptr;
}

// Whether the axis enumerates elements of a transformed tile.
bool is_unrolled(const Axis& axis) {
  const std::int64_t extent = constant_extent(axis.extent);
  return extent > 1 && extent <= kMaxPoints;
}

// Returns the producer of the tensor that the stage reads, provided that it reads no other one and indexes these
// dimensions by its axes.
const ScheduledStage* transformed(const Stages& stages, const ScheduledStage& stage, std::size_t rank, Pairs pairs) {
  const std::vector<const Load*> loads = loads_of_one(stage, rank);
  if (loads.empty() ||
      !std::all_of(loads.begin(), loads.end(), [&](const Load* load) { return is_indexed(*load, stage, pairs); }))
    return nullptr;
  const ScheduledStage* source = schedule::producer_of(stages, loads[0]->buffer.get());
  return source != nullptr && is_intermediate(stages, *source, rank) ? source : nullptr;
}

bool find_input(const Stages& stages, const ScheduledStage& input, WinogradStages& group) {
  if (!is_intermediate(stages, input, 7) || !is_unrolled(input.axes[0]) || !is_unrolled(input.axes[1])) return false;
  const ScheduledStage* rows = transformed(stages, input, 7, {{0, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 0}, {6, 6}});
  if (rows == nullptr || rows->reduction() != nullptr || !is_unrolled(rows->axes[5])) return false;
  group.input = input.name;
  group.input_rows = rows->name;
  return true;
}

void find_weights(const Stages& stages, const ScheduledStage& weights, WinogradStages& group) {
  if (!is_intermediate(stages, weights, 6)) return;
  const ScheduledStage* rows = transformed(stages, weights, 6, {{0, 0}, {2, 2}, {3, 3}, {4, 4}, {5, 5}});
  if (rows == nullptr || rows->reduction() != nullptr || !is_unrolled(rows->axes[1])) return;
  group.weights = weights.name;
  group.weight_rows = rows->name;
}

// Whether the result of tile and position in it is the stage's element at h and w.
bool reads_tiles(const ScheduledStage& result, const ScheduledStage& rows) {
  const Expr tile = rows.axes[4].extent;
  const std::vector<const Load*> loads = loads_of(result.values[0]);
  return std::all_of(loads.begin(), loads.end(), [&](const Load* load) {
    if (load->buffer != rows.outputs[0]) return true;
    const Expr &h = result.axes[2].var, &w = result.axes[3].var;
    return is_indexed(*load, result, {{0, 0}, {1, 1}, {6, 4}}) && equal(load->indices[2], h / tile) &&
           equal(load->indices[3], w / tile) && equal(load->indices[4], h % tile);
  });
}

}  // namespace

std::optional<WinogradStages> find_winograd(const Stages& stages, const ScheduledStage& products) {
  const Reduce* sum = products.reduction();
  if (sum == nullptr || sum->sources.size() != 1 || sum->reducer->op != ReduceOp::sum || sum->axes.size() != 2 ||
      sum->condition.defined() || !sum->init.empty() || !is_intermediate(stages, products, 7))
    return std::nullopt;
  const std::vector<const Load*> loads = loads_of(sum->sources[0]);
  if (loads.size() != 2 || loads[0]->indices.size() != 7 || loads[1]->indices.size() != 6) return std::nullopt;
  const std::vector<Expr>&input = loads[0]->indices, &weights = loads[1]->indices;
  const Expr &cb = sum->axes[0].var, &u = sum->axes[1].var;
  if (!is_indexed(*loads[0], products, {{0, 0}, {1, 1}, {2, 2}, {4, 4}, {5, 5}}) || !input[3].same_as(cb) ||
      !input[6].same_as(u) || !is_indexed(*loads[1], products, {{0, 0}, {1, 1}, {2, 3}, {5, 6}}) ||
      !weights[3].same_as(cb) || !weights[4].same_as(u))
    return std::nullopt;
  WinogradStages group;
  group.products = products.name;
  const ScheduledStage* transformed_input = schedule::producer_of(stages, loads[0]->buffer.get());
  if (transformed_input == nullptr || !find_input(stages, *transformed_input, group)) return std::nullopt;
  const ScheduledStage* transformed_weights = schedule::producer_of(stages, loads[1]->buffer.get());
  if (transformed_weights != nullptr) find_weights(stages, *transformed_weights, group);
  const ScheduledStage* rows = only_reader(stages, products);
  if (!is_intermediate(stages, *rows, 7) || !is_unrolled(rows->axes[4]) ||
      transformed(stages, *rows, 7, {{1, 5}, {2, 0}, {3, 1}, {4, 2}, {5, 3}, {6, 6}}) != &products)
    return std::nullopt;
  const ScheduledStage* result = only_reader(stages, *rows);
  if (result->reduction() != nullptr || result->values.size() != 1 || result->axes.size() != 5 ||
      result->compute_kind == ComputeKind::attached || constant_extent(result->axes[4].extent) == 0 ||
      !reads_tiles(*result, *rows))
    return std::nullopt;
  group.product_rows = rows->name;
  group.result = result->name;
  group.tile = constant_extent(rows->axes[4].extent);
  return group;
}

}  // namespace ferry::autoschedule
