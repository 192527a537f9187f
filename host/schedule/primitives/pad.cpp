// Extends an axis to a multiple of FACTOR. An intermediate tensor has zeros there; a reduction adds zeros, so each of
// its products must read a tensor that has been padded. Loops and layouts then consist of whole tiles, and instructions
// of whole groups.
//
//     for k in 30: P[k] = A[k]              for k in 32: P[k] = k < 30 ? A[k] : 0          P: pad k 4
//     for k in 30: C += P[k] * P[k]   ->    for k in 32: C += P[k] * P[k]                  C: pad k 4
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"
#include "host/schedule/primitives/attach_checks.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

Expr padded_extent(const Expr& extent, std::int64_t factor) {
  return passes::simplify(ir::ceil_div(extent, Expr(factor)) * Expr(factor));
}

// Returns the dimension of the load that the variable alone indexes, or nothing if the variable is used otherwise.
std::optional<std::size_t> dimension_of(const ir::Load& load, const Expr& var) {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < load.indices.size(); ++d) {
    if (!ir::uses_var(load.indices[d], var)) continue;
    if (found || !load.indices[d].same_as(var)) return std::nullopt;
    found = d;
  }
  return found;
}

// Whether the value is 0 where the variable is past the end of its axis.
bool is_zero_past(const Stages& stages, const Expr& value, const ir::Axis& axis) {
  if (const auto* cast = value.as<ir::Cast>()) return is_zero_past(stages, cast->value, axis);
  if (const auto* product = value.as<ir::Binary>(); product != nullptr && product->op == ir::BinaryOp::mul) {
    const bool left = is_zero_past(stages, product->left, axis), right = is_zero_past(stages, product->right, axis);
    // 0 times infinity is not 0.
    return product->type.is_float() ? left && right : left || right;
  }
  const auto* load = value.as<ir::Load>();
  if (load == nullptr) return false;
  const ScheduledStage* producer = producer_of(stages, load->buffer.get());
  const auto dimension = dimension_of(*load, axis.var);
  if (producer == nullptr || !dimension) return false;
  const auto whole = producer->padded.find(*dimension);
  return whole != producer->padded.end() && passes::can_prove(whole->second <= axis.extent);
}

// Makes the readers of a tensor read another one.
void replace_tensor(Stages& stages, const ir::BufferRef& tensor, const ir::BufferRef& by) {
  const ir::BufferSubstitution replaced = {{tensor.get(), by}};
  for (ScheduledStage& reader : stages) {
    if (!reads(reader, {tensor})) continue;
    for (Expr& value : reader.values) value = ir::substitute_buffers(value, replaced);
    for (Expr& index : reader.place) index = ir::substitute_buffers(index, replaced);
    for (ScheduledStage::Prefetch& prefetch : reader.prefetches)
      if (prefetch.tensor == tensor) prefetch.tensor = by;
  }
}

void pad_tensor(Stages& stages, ScheduledStage& stage, std::size_t axis, std::int64_t factor,
                const DirectiveArgs& args) {
  expect_intermediate(stage, args);
  expect_own_storage(stage, args);
  if (stage.sequence != nullptr)
    args.fail("a stage whose elements do not depend on each other",
              "'" + stage.name + "', which is computed in sequence");
  if (stage.reduction() != nullptr)
    args.fail("a stage without a reduction, or its reduction's axis", "an axis of the result of '" + stage.name + "'");
  if (stage.outputs.size() != 1) args.fail("a stage with one tensor", "'" + stage.name + "', which has several");
  if (stage.layout) args.fail("pad before transform_layout", "it after that");
  if (stage.padded.contains(axis)) args.fail("an axis that is not padded yet", "one that is");
  const ir::Axis whole = stage.axes[axis];
  stage.axes[axis].extent = padded_extent(whole.extent, factor);
  const Expr zero = ir::constant(stage.values[0].type(), std::int64_t{0});
  stage.values[0] = ir::if_then_else(whole.var < whole.extent, stage.values[0], zero);
  stage.padded[axis] = whole.extent;
  const std::shared_ptr<ir::Buffer> padded = ir::without_definition(*stage.outputs[0]);
  padded->shape[axis] = stage.axes[axis].extent;
  replace_tensor(stages, stage.outputs[0], padded);
  stage.outputs[0] = padded;
  stage.loops = plain_loops(stage);
}

void pad_reduction(const Stages& stages, ScheduledStage& stage, std::size_t axis, std::int64_t factor,
                   const DirectiveArgs& args) {
  const ir::Reduce& reduce = *stage.reduction();
  if (reduce.reducer->op != ir::ReduceOp::sum || reduce.sources.size() != 1 || reduce.condition.defined())
    args.fail("a sum without a condition", "another reduction in '" + stage.name + "'");
  std::vector<ir::Axis> axes = reduce.axes;
  const ir::Axis whole = axes[axis];
  axes[axis].extent = padded_extent(whole.extent, factor);
  for (const ir::Load* load : analysis::loads_of(reduce.sources[0])) {
    const bool uses = std::ranges::any_of(load->indices, [&](const Expr& i) { return ir::uses_var(i, whole.var); });
    if (!uses) continue;
    const auto dimension = dimension_of(*load, whole.var);
    if (!dimension || !passes::can_prove(axes[axis].extent <= load->buffer->shape[*dimension]))
      args.fail("a padded copy of '" + load->buffer->name + "', whose elements past the end exist too",
                "a tensor that ends there");
  }
  if (!is_zero_past(stages, reduce.sources[0], whole))
    args.fail("a sum of products with a factor that is padded", "one that may add other numbers than 0");
  stage.values[0] =
      ir::Reduce::make(reduce.reducer, reduce.sources, std::move(axes), {}, reduce.init, reduce.component);
  stage.loops = plain_loops(stage);
}

}  // namespace

void pad(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  if (stage == nullptr) args.fail("a stage", "'" + args.subject() + "', a parameter");
  const std::size_t loop = args.axis(*stage);
  const std::int64_t factor = args.positive("a factor");
  args.end();
  if (stage->is_touched || !stage->prefetches.empty() || attached_to(stages, *stage) != nullptr)
    args.fail("pad before directives about the loops of '" + stage->name + "'", "it after them");
  const std::size_t spatial = stage->loops.spatial_axes();
  if (loop < spatial)
    pad_tensor(stages, *stage, loop, factor, args);
  else
    pad_reduction(stages, *stage, loop - spatial, factor, args);
}

}  // namespace ferry::schedule
