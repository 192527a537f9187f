// Makes stages. A stage's value is either free of reductions or one reduction at the top; a reduction anywhere else is
// hoisted into a stage of its own over those surrounding axes that it uses.
#include "crosscompile/analysis/loads.h"
#include "crosscompile/analysis/ranges.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/lang/tensor.h"
#include "host/lang/expression_size.h"
#include "host/lang/gather.h"
#include "host/lang/library.h"
#include "host/lang/names.h"
#include "host/lang/sequence.h"
#include "host/lang/stage.h"
#include "host/lang/stage_bounds.h"
#include "host/lang/wide_sums.h"
#include "module/manifest.h"

#include <algorithm>
#include <map>

namespace ferry::lang {
namespace {

// The check's own gathers are guarded by the checks added before it.
void add_check(Stage& stage, GatherCheck check) {
  auto made = std::make_shared<Stage>();
  made->name = stage.name + ".inside" + (stage.checks.empty() ? "" : std::to_string(stage.checks.size()));
  made->values = {std::move(check.inside)};
  made->checks = stage.checks;
  made->assertion = std::move(check.message);
  made->depth = stage.depth;
  auto buffer = std::make_shared<ir::Buffer>();
  buffer->name = made->name;
  buffer->dtype = DType::boolean;
  buffer->scope = ir::Scope::global;
  buffer->definition = std::move(made);
  stage.checks.emplace_back(std::move(buffer));
}

// `output_names` has a name for each value or is empty; several values are then called NAME.0, NAME.1 and so on.
std::vector<Tensor> finish(std::vector<ir::Axis> axes, std::vector<Expr> values, const std::string& name,
                           const std::vector<std::string>& output_names, std::vector<UncheckedIndex> unchecked,
                           IndexChecks checks, std::shared_ptr<const Sequence> sequence = nullptr) {
  ExpressionSize measure;
  std::size_t operations = 0;
  for (const Expr& value : values) operations += measure.operations(value);
  if (operations > kMaxOperations) {
    throw CompileError("'" + name + "': the definition has more than " + std::to_string(kMaxOperations) +
                       " operations; compute a shared part as a tensor of its own");
  }
  std::vector<DType> types;
  std::uint32_t depth = 0;
  for (Expr& value : values) {
    types.push_back(value.type().code);
    value = with_wide_sum(value);
    depth = std::max(depth, value.get()->depth);
  }
  auto stage = std::make_shared<Stage>();
  stage->name = name;
  stage->depth = depth + measure.producer_depth();
  const bool scatters = sequence != nullptr && sequence->is_scatter();
  if (scatters) stage->depth = std::max(stage->depth, sequence->before.stage()->depth + 1);
  if (stage->depth > kMaxChainDepth) {
    throw CompileError("'" + name + "': the chain of computations it depends on is too long");
  }
  std::vector<Expr> shape;
  if (scatters)
    shape = sequence->self->shape;
  else
    for (const ir::Axis& axis : axes) shape.push_back(axis.extent);
  std::vector<Tensor> outputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto buffer = std::make_shared<ir::Buffer>();
    buffer->name = !output_names.empty() ? output_names[k] : values.size() == 1 ? name : name + "." + std::to_string(k);
    buffer->dtype = types[k];
    buffer->shape = shape;
    buffer->scope = ir::Scope::global;
    buffer->definition = stage;
    buffer->component = k;
    buffer->storage.above_minimum = sequence == nullptr && analysis::is_above_minimum(values[k]);
    outputs.emplace_back(std::move(buffer));
  }
  if (checks != IndexChecks::caller) {
    StageBounds bounds = bounds_of_reads(axes, values, name, sequence.get());
    stage->requirements = std::move(bounds.requirements);
    if (checks == IndexChecks::stage)
      unchecked.insert(unchecked.end(), bounds.unchecked.begin(), bounds.unchecked.end());
  }
  std::vector<Expr> checked = values;
  if (scatters) checked.push_back(ir::Load::make(sequence->self, sequence->place));
  const ir::Buffer* updated = scatters ? sequence->self.get() : nullptr;
  for (GatherCheck& check : gather_checks(axes, checked, name, unchecked, updated)) {
    if (sequence != nullptr && analysis::reads(check.inside, sequence->self.get()))
      throw CompileError("'" + name + "': expected indices whose use does not depend on '" + name +
                         "', which is computed in order; they are checked before it");
    add_check(*stage, std::move(check));
  }
  stage->sequence = std::move(sequence);
  stage->axes = std::move(axes);
  stage->values = std::move(values);
  return outputs;
}

std::string suffix_of(const ir::Reduce& reduce) {
  switch (reduce.reducer->op) {
    case ir::ReduceOp::sum: return ".sum";
    case ir::ReduceOp::prod: return ".prod";
    case ir::ReduceOp::min: return ".min";
    case ir::ReduceOp::max: return ".max";
    case ir::ReduceOp::any: return ".any";
    case ir::ReduceOp::all: return ".all";
    case ir::ReduceOp::user: return "." + reduce.reducer->name;
  }
  return "";
}

bool same_exprs(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Expr& x, const Expr& y) { return x.same_as(y); });
}

// Whether both are components of one tuple reduction.
bool same_reduction(const ir::Reduce& a, const ir::Reduce& b) {
  return a.reducer == b.reducer && same_exprs(a.sources, b.sources) && same_exprs(a.init, b.init) &&
         a.condition.same_as(b.condition) &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](const ir::Axis& x, const ir::Axis& y) { return x.var.same_as(y.var); });
}

// Whether one loop nest computes all the values: either none is a reduction, or all are components of the same one.
bool share_loops(const std::vector<Expr>& values) {
  const auto* first = values[0].as<ir::Reduce>();
  return std::all_of(values.begin(), values.end(), [&](const Expr& value) {
    const auto* reduce = value.as<ir::Reduce>();
    return first == nullptr ? reduce == nullptr : reduce != nullptr && same_reduction(*first, *reduce);
  });
}

Expr with_component(const ir::Reduce& reduce, std::size_t component) {
  return ir::Reduce::make(reduce.reducer, reduce.sources, reduce.axes, reduce.condition, reduce.init, component);
}

// Hoists inner reductions out of one stage's values.
class Hoist : public ir::Mutator {
 public:
  Hoist(const std::vector<ir::Axis>& axes, std::string name, IndexChecks checks)
      : around_(axes), name_(std::move(name)), checks_(checks) {}

  // Keeps reductions at the top, but hoists those inside them.
  void top(std::vector<Expr>& values) {
    const auto* reduce = values[0].as<ir::Reduce>();
    if (reduce == nullptr || !share_loops(values)) {
      for (Expr& value : values) value = mutate(value);
      return;
    }
    std::vector<std::size_t> components;
    for (const Expr& value : values) components.push_back(value.as<ir::Reduce>()->component);
    // The reduction is rebuilt once for all components, so that they still share it.
    const Expr rebuilt = inside(*reduce, values[0]);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto& whole = *rebuilt.as<ir::Reduce>();
      values[k] = whole.component == components[k] ? rebuilt : with_component(whole, components[k]);
    }
  }

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const ir::Reduce& node, const Expr& self) override {
    for (const Hoisted& known : hoisted_) {
      if (same_reduction(*known.reduction.as<ir::Reduce>(), node)) return known.elements[node.component];
    }
    const Expr value = inside(node, self);
    std::vector<Expr> used = ir::free_vars(value);
    std::vector<ir::Axis> axes;
    std::vector<Expr> at;
    ir::Substitution renamed;
    for (const ir::Axis& axis : around_) {
      const bool uses = std::any_of(used.begin(), used.end(), [&](const Expr& v) { return v.same_as(axis.var); });
      if (!uses) continue;
      for (const ir::Axis& other : around_) {
        if (ir::uses_var(axis.extent, other.var) || ir::uses_var(axis.min, other.var)) {
          throw CompileError("'" + name_ + "': a reduction inside another needs axes whose ranges do not depend on " +
                             "other axes");
        }
      }
      const Expr fresh = ir::Var::make(axis.var.as<ir::Var>()->name);
      renamed.emplace(axis.var.get(), fresh + axis.min);
      axes.push_back({fresh, Expr(0), axis.extent});
      at.push_back(axis.var - axis.min);
    }
    if (axes.size() > kMaxRank) {
      throw CompileError("'" + name_ + "': a reduction inside another uses more than " + std::to_string(kMaxRank) +
                         " axes");
    }
    const std::size_t copies = counts_[suffix_of(node)]++;
    const std::string name = name_ + suffix_of(node) + (copies == 0 ? "" : std::to_string(copies));
    const Expr moved = ir::substitute(value, renamed);
    std::vector<Expr> components;
    for (std::size_t k = 0; k < node.sources.size(); ++k)
      components.push_back(with_component(*moved.as<ir::Reduce>(), k));
    Hoisted hoisted{self, {}};
    for (const Tensor& output : finish(std::move(axes), std::move(components), name, {}, {}, checks_)) {
      hoisted.elements.push_back(output.at(at));
    }
    hoisted_.push_back(std::move(hoisted));
    return hoisted_.back().elements[node.component];
  }

 private:
  Expr inside(const ir::Reduce& node, const Expr& self) {
    const std::size_t before = around_.size();
    around_.insert(around_.end(), node.axes.begin(), node.axes.end());
    const Expr rebuilt = Mutator::mutate_node(node, self);
    around_.resize(before);
    return rebuilt;
  }

  std::vector<ir::Axis> around_;
  std::string name_;
  IndexChecks checks_;
  std::map<std::string, std::size_t> counts_;
  struct Hoisted {
    Expr reduction;
    std::vector<Expr> elements;  // one for each component
  };
  std::vector<Hoisted> hoisted_;
};

std::vector<ir::Axis> axes_of(std::vector<Expr> shape, const std::string& name) {
  std::vector<ir::Axis> axes;
  shape = checked_shape(std::move(shape), name);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    axes.push_back({ir::Var::make("i" + std::to_string(i)), Expr(0), shape[i]});
  }
  return axes;
}

std::vector<Expr> variables_of(const std::vector<ir::Axis>& axes) {
  std::vector<Expr> variables;
  for (const ir::Axis& axis : axes) variables.push_back(axis.var);
  return variables;
}

std::vector<Tensor> compute_stage(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                  const std::vector<std::string>& output_names,
                                  const std::vector<UncheckedIndex>& unchecked, IndexChecks checks,
                                  std::shared_ptr<const Sequence> sequence) {
  check_name(name, "a tensor");
  for (const std::string& output : output_names) check_name(output, "a tensor");
  std::vector<Expr> shape;
  for (const ir::Axis& axis : axes) {
    if (!ir::is_constant(axis.min, 0)) throw InternalError("the axes of a computed tensor start at 0");
    shape.push_back(axis.extent);
  }
  checked_shape(std::move(shape), name);
  if (values.empty()) throw CompileError("'" + name + "': expected at least one value");
  // Measured before anything walks the trees, which may be huge (see expression_size.h).
  ExpressionSize measure;
  std::size_t operations = 0;
  for (const Expr& value : values) {
    if (!value.defined() || !value.type().is_scalar()) {
      throw CompileError("'" + name + "': expected a value for each element");
    }
    operations += measure.operations(value);
    if (operations > kMaxOperations) break;
  }
  if (operations <= kMaxOperations) {
    Hoist(axes, name, checks).top(values);
  }
  return finish(std::move(axes), std::move(values), name, output_names, unchecked, checks, std::move(sequence));
}

std::vector<Tensor> compute_values(std::vector<Expr> shape, const ElementsFunction& elements, std::string name,
                                   IndexChecks checks) {
  std::vector<ir::Axis> axes = axes_of(std::move(shape), name);
  std::vector<Expr> values = elements(variables_of(axes));
  return compute_stage(std::move(axes), std::move(values), std::move(name), {}, {}, checks, nullptr);
}

Tensor compute_one(std::vector<Expr> shape, const ElementFunction& element, std::string name, IndexChecks checks) {
  const auto elements = [&](const std::vector<Expr>& index) { return std::vector<Expr>{element(index)}; };
  return compute_values(std::move(shape), elements, std::move(name), checks)[0];
}

Tensor updated(const Tensor& before, const ElementFunction& element, std::string name, IndexChecks checks) {
  if (before.buffer() == nullptr) throw CompileError("'" + name + "': expected a tensor to update");
  const Tensor after = compute_one(before.shape(), element, name, checks);
  if (after.dtype() == before.dtype()) return after;
  throw CompileError("'" + name + "': expected " + ir::to_text(ir::Type(before.dtype())) + " as '" + before.name() +
                     "' has, got " + ir::to_text(ir::Type(after.dtype())) + "; cast it");
}

}  // namespace

std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names,
                                 const std::vector<UncheckedIndex>& unchecked) {
  return compute_stage(std::move(axes), std::move(values), std::move(name), output_names, unchecked,
                       IndexChecks::caller, nullptr);
}

Tensor compute_in_sequence(std::vector<ir::Axis> axes, Expr value, std::string name,
                           std::shared_ptr<const Sequence> sequence, const std::vector<UncheckedIndex>& unchecked,
                           IndexChecks checks) {
  return compute_stage(std::move(axes), {std::move(value)}, std::move(name), {}, unchecked, checks,
                       std::move(sequence))[0];
}

std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names) {
  return compute_stage(std::move(axes), std::move(values), std::move(name), output_names, {}, IndexChecks::stage,
                       nullptr);
}

Tensor compute(std::vector<Expr> shape, const ElementFunction& element, std::string name) {
  return compute_one(std::move(shape), element, std::move(name), IndexChecks::stage);
}

Tensor update(const Tensor& before, const ElementFunction& element, std::string name) {
  return updated(before, element, std::move(name), IndexChecks::stage);
}

std::vector<Tensor> compute_all(std::vector<Expr> shape, const ElementsFunction& elements, std::string name) {
  return compute_values(std::move(shape), elements, std::move(name), IndexChecks::stage);
}

namespace library {

std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names) {
  return compute_stage(std::move(axes), std::move(values), std::move(name), output_names, {}, IndexChecks::sizes,
                       nullptr);
}

Tensor compute(std::vector<Expr> shape, const ElementFunction& element, std::string name) {
  return compute_one(std::move(shape), element, std::move(name), IndexChecks::sizes);
}

Tensor update(const Tensor& before, const ElementFunction& element, std::string name) {
  return updated(before, element, std::move(name), IndexChecks::sizes);
}

std::vector<Tensor> compute_all(std::vector<Expr> shape, const ElementsFunction& elements, std::string name) {
  return compute_values(std::move(shape), elements, std::move(name), IndexChecks::sizes);
}

}  // namespace library

}  // namespace ferry::lang
