// Moves one factor of a sum of products of bytes into the other type of bytes, by 128, and corrects the sum by that of
// the other factors. Instructions for dot products then get the types that they multiply.
//
//     for m, n, k                                  for k, n: B.flipped[k,n] = uint8(B[k,n] + 128)
//       C[m,n] += A[m,k] * B[k,n]                  for m, k: C.totals[m] += A[m,k]
//                                            ->    for m, n, k: C.products[m,n] += A[m,k] * B.flipped[k,n]
//                                                  for m, n: C[m,n] = C.products[m,n] - C.totals[m] * 128
//
// Integers wrap, so the results are the same even where a sum overflows.
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"
#include "host/schedule/primitives/attached_stages.h"
#include "host/schedule/primitives/new_stage.h"
#include "host/schedule/primitives/primitives.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

constexpr std::int64_t kHalf = 128;

// A product of a byte, converted to the type of the sum, and of other factors.
struct Factors {
  const ir::Load* byte = nullptr;
  Expr others;
};

const ir::Load* byte_of(const Expr& factor, const std::string& tensor) {
  const auto* cast = factor.as<ir::Cast>();
  const auto* load = cast == nullptr ? nullptr : cast->value.as<ir::Load>();
  if (load == nullptr || load->buffer->name != tensor) return nullptr;
  return load->type.code == DType::i8 || load->type.code == DType::u8 ? load : nullptr;
}

bool reads_tensor(const Expr& value, const std::string& tensor) {
  return std::ranges::any_of(analysis::loads_of(value),
                             [&](const ir::Load* load) { return load->buffer->name == tensor; });
}

// Returns no byte unless the tensor is one factor and no part of the others.
Factors factors_of(const Expr& source, const std::string& tensor) {
  const auto* product = source.as<ir::Binary>();
  if (product == nullptr || product->op != ir::BinaryOp::mul) return {};
  if (const ir::Load* byte = byte_of(product->left, tensor); byte != nullptr && !reads_tensor(product->right, tensor))
    return {byte, product->right};
  if (const ir::Load* byte = byte_of(product->right, tensor); byte != nullptr && !reads_tensor(product->left, tensor))
    return {byte, product->left};
  return {};
}

// Returns the stage that copies the tensor as the other type of bytes.
ScheduledStage flipped_copy(const ir::BufferRef& tensor, const std::string& name, std::int64_t moved_by) {
  const DType type = moved_by > 0 ? DType::u8 : DType::i8;
  ScheduledStage copy;
  copy.name = name;
  for (std::size_t i = 0; i < tensor->shape.size(); ++i)
    copy.axes.push_back({ir::Var::make("i" + std::to_string(i)), Expr(0), tensor->shape[i]});
  const Expr value = ir::cast(DType::i16, ir::Load::make(tensor, variables_of(copy.axes)));
  copy.values = {ir::cast(type, value + ir::constant(DType::i16, moved_by))};
  copy.outputs = {make_tensor(name, type, copy.axes)};
  copy.loops = plain_loops(copy);
  return copy;
}

// Returns a stage that sums up the source over the reduction's axes, at the axes of `like` that it varies along.
ScheduledStage sum_stage(const std::string& name, const ScheduledStage& like, const std::vector<ir::Axis>& axes,
                         const Expr& source, std::vector<Expr> init) {
  const ir::Reduce& reduce = *like.reduction();
  ScheduledStage sum;
  sum.name = name;
  ir::Substitution renamed;
  sum.axes = fresh_axes(axes, renamed);
  const std::vector<ir::Axis> inner = fresh_axes(reduce.axes, renamed);
  const Expr condition = reduce.condition.defined() ? ir::substitute(reduce.condition, renamed) : Expr();
  for (Expr& start : init) start = ir::substitute(start, renamed);
  sum.values = {ir::Reduce::make(reduce.reducer, {ir::substitute(source, renamed)}, inner, condition, std::move(init))};
  sum.outputs = {make_tensor(name, source.type().code, sum.axes)};
  sum.loops = plain_loops(sum);
  return sum;
}

}  // namespace

void flip(Stages& stages, ScheduledStage* stage, DirectiveArgs& args) {
  const std::string tensor = args.name("a tensor");
  args.end();
  const ir::Reduce* reduce = stage->reduction();
  if (reduce == nullptr || reduce->reducer->op != ir::ReduceOp::sum || reduce->sources.size() != 1 ||
      stage->sequence != nullptr)
    args.fail("a sum", "'" + stage->name + "', which is none");
  if (stage->is_touched || !stage->prefetches.empty() || attached_to(stages, *stage) != nullptr)
    args.fail("flip before directives about the loops of '" + stage->name + "'", "it after them");
  const Expr source = reduce->sources[0];
  const Factors factors = factors_of(source, tensor);
  if (factors.byte == nullptr || source.type().is_float())
    args.fail("int8 or uint8, converted to the type of the sum, as one of two factors",
              "no such use of '" + tensor + "'");
  const std::int64_t moved_by = factors.byte->type.code == DType::i8 ? kHalf : -kHalf;

  ScheduledStage copy = flipped_copy(factors.byte->buffer, free_name(stages, tensor + ".flipped"), moved_by);
  const Expr moved = ir::cast(source.type().code, ir::Load::make(copy.outputs[0], factors.byte->indices));
  std::vector<ir::Axis> others;
  for (const ir::Axis& axis : stage->axes)
    if (ir::uses_var(factors.others, axis.var) ||
        (reduce->condition.defined() && ir::uses_var(reduce->condition, axis.var)))
      others.push_back(axis);
  ScheduledStage totals = sum_stage(free_name(stages, stage->name + ".totals"), *stage, others, factors.others, {});
  ScheduledStage products = sum_stage(free_name(stages, stage->name + ".products"), *stage, stage->axes,
                                      moved * factors.others, reduce->init);
  const Expr correction =
      ir::Load::make(totals.outputs[0], variables_of(others)) * ir::constant(source.type(), moved_by);
  stage->values = {ir::Load::make(products.outputs[0], variables_of(stage->axes)) - correction};
  stage->loops = plain_loops(*stage);
  const auto at = std::ranges::find_if(stages, [&](const ScheduledStage& other) { return &other == stage; });
  Stages added;
  added.push_back(std::move(copy));
  added.push_back(std::move(totals));
  added.push_back(std::move(products));
  stages.splice(at, added);
}

}  // namespace ferry::schedule
