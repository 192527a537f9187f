// Makes stages. A stage's value is either free of reductions or one reduction at the top; a reduction that stands
// elsewhere is taken out into a stage of its own, over those axes around it that it uses.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "host/lang/measure.h"
#include "host/lang/names.h"
#include "host/lang/tensor.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace ferry::lang {
namespace {

std::vector<Tensor> finish(std::vector<ir::Axis> axes, std::vector<Expr> values, const std::string& name) {
  Measure measure;
  std::size_t operations = 0;
  std::uint32_t depth = 0;
  for (const Expr& value : values) {
    operations += measure.operations(value);
    depth = std::max(depth, value.get()->depth);
  }
  if (operations > kMaxOperations) {
    throw CompileError("'" + name + "': the definition has more than " + std::to_string(kMaxOperations) +
                       " operations; compute a shared part as a tensor of its own");
  }
  auto stage = std::make_shared<Stage>();
  stage->name = name;
  stage->depth = depth + measure.producer_depth();
  if (stage->depth > kMaxChainDepth) {
    throw CompileError("'" + name + "': the chain of computations it depends on is too long");
  }
  std::vector<Expr> shape;
  for (const ir::Axis& axis : axes) shape.push_back(axis.extent);
  std::vector<Tensor> outputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto buffer = std::make_shared<ir::Buffer>();
    buffer->name = values.size() == 1 ? name : name + "." + std::to_string(k);
    buffer->dtype = values[k].type().code;
    buffer->shape = shape;
    buffer->scope = ir::Scope::global;
    buffer->definition = stage;
    buffer->component = k;
    outputs.emplace_back(std::move(buffer));
  }
  stage->axes = std::move(axes);
  stage->values = std::move(values);
  return outputs;
}

const char* suffix_of(const ir::Reduce& reduce) {
  switch (reduce.reducer->op) {
    case ir::ReduceOp::sum: return ".sum";
    case ir::ReduceOp::prod: return ".prod";
    case ir::ReduceOp::min: return ".min";
    case ir::ReduceOp::max: return ".max";
    case ir::ReduceOp::any: return ".any";
    case ir::ReduceOp::all: return ".all";
    case ir::ReduceOp::user: return ".reduce";
  }
  return "";
}

// Takes inner reductions out of one stage's values.
class Hoist : public ir::Mutator {
 public:
  Hoist(const std::vector<ir::Axis>& axes, std::string name) : around_(axes), name_(std::move(name)) {}

  // Keeps a reduction at the top, but not inside it.
  Expr top(const Expr& value) {
    const auto* reduce = value.as<ir::Reduce>();
    return reduce == nullptr ? mutate(value) : inside(*reduce, value);
  }

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const ir::Reduce& node, const Expr& self) override {
    if (const auto known = done_.find(self.get()); known != done_.end()) return known->second;
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
    const Expr element = finish(std::move(axes), {ir::substitute(value, renamed)}, name)[0].at(std::move(at));
    done_.emplace(self.get(), element);
    return element;
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
  std::map<std::string, std::size_t> counts_;
  std::unordered_map<const ir::ExprNode*, Expr> done_;
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

}  // namespace

std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name) {
  check_name(name, "a tensor");
  std::vector<Expr> shape;
  for (const ir::Axis& axis : axes) {
    if (!ir::is_constant(axis.min, 0)) throw InternalError("the axes of a computed tensor start at 0");
    shape.push_back(axis.extent);
  }
  checked_shape(std::move(shape), name);
  if (values.empty()) throw CompileError("'" + name + "': expected at least one value");
  // Before anything walks the trees.
  Measure measure;
  std::size_t operations = 0;
  for (const Expr& value : values) {
    if (!value.defined() || !value.type().is_scalar()) {
      throw CompileError("'" + name + "': expected a value for each element");
    }
    operations += measure.operations(value);
    if (operations > kMaxOperations) break;
  }
  if (operations <= kMaxOperations) {
    Hoist hoist(axes, name);
    for (Expr& value : values) value = hoist.top(value);
  }
  return finish(std::move(axes), std::move(values), name);
}

Tensor compute(std::vector<Expr> shape, const ElementFunction& element, std::string name) {
  std::vector<ir::Axis> axes = axes_of(std::move(shape), name);
  Expr value = element(variables_of(axes));
  return compute_over(std::move(axes), {std::move(value)}, std::move(name))[0];
}

std::vector<Tensor> compute_all(std::vector<Expr> shape, const ElementsFunction& elements, std::string name) {
  std::vector<ir::Axis> axes = axes_of(std::move(shape), name);
  std::vector<Expr> values = elements(variables_of(axes));
  return compute_over(std::move(axes), std::move(values), std::move(name));
}

}  // namespace ferry::lang
