#include "host/autoschedule/sized_stages.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ScheduledStage;
using schedule::Stages;

namespace {

class AtSizes {
 public:
  AtSizes(const lang::Program& program, const Sizes& sizes) {
    for (const Expr& symbol : lang::symbols_of(program))
      if (const auto size = sizes.find(symbol.as<Var>()->name); size != sizes.end())
        values_[symbol.get()] = Expr(size->second);
  }

  void apply(ScheduledStage& stage) {
    for (Axis& axis : stage.axes) {
      axis.min = size(axis.min);
      axis.extent = size(axis.extent);
    }
    for (Expr& value : stage.values) value = expression(value);
    for (Expr& index : stage.place) index = expression(index);
    for (BufferRef& output : stage.outputs)
      if (output != nullptr) output = tensor(output);
    stage.loops = plain_loops(stage);
  }

 private:
  Expr size(const Expr& expr) const { return expr.defined() ? passes::simplify(substitute(expr, values_)) : expr; }

  Expr expression(const Expr& symbolic) {
    BufferSubstitution buffers;
    for (const Load* load : loads_of(symbolic)) buffers[load->buffer.get()] = tensor(load->buffer);
    return substitute(substitute_buffers(symbolic, buffers), values_);
  }

  BufferRef tensor(const BufferRef& symbolic) {
    BufferRef& sized = tensors_[symbolic.get()];
    if (sized != nullptr) return sized;
    Buffer copy = *symbolic;
    for (Expr& extent : copy.shape) extent = size(extent);
    for (Expr& stride : copy.strides) stride = size(stride);
    return sized = std::make_shared<Buffer>(std::move(copy));
  }

  Substitution values_;
  BufferSubstitution tensors_;
};

}  // namespace

Stages stages_at(const lang::Program& program, const Sizes& sizes) {
  Stages stages = schedule::stages_of(program);
  AtSizes at_sizes(program, sizes);
  for (ScheduledStage& stage : stages) at_sizes.apply(stage);
  return stages;
}

}  // namespace ferry::autoschedule
