#include "host/lang/sequence.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "host/lang/library.h"
#include "host/lang/names.h"

#include <algorithm>
#include <utility>

namespace ferry::lang {
namespace {

using analysis::reads;

// Refuses values that are computed before the stage itself although they depend on its elements.
class CheckSelfReads : public ir::Visitor {
 public:
  CheckSelfReads(const std::string& name, const ir::Buffer* self) : name_(name), self_(self) {}

  void check(const Expr& value) {
    const auto* reduce = value.as<ir::Reduce>();
    if (reduce == nullptr) return visit(value);
    for (const Expr& start : reduce->init) visit(start);
    for (const Expr& source : reduce->sources) visit(source);
    if (reduce->condition.defined()) visit(reduce->condition);
  }

 protected:
  using Visitor::visit_node;

  void visit_node(const ir::Load& node) override {
    for (const Expr& index : node.indices) {
      if (!reads(index, self_)) continue;
      throw CompileError("'" + name_ + "': expected indices that do not depend on '" + name_ +
                         "', which is computed in order, got such an index of '" + node.buffer->name + "'");
    }
    Visitor::visit_node(node);
  }

  void visit_node(const ir::Reduce& node) override {
    for (const Expr& source : node.sources) {
      if (!reads(source, self_)) continue;
      throw CompileError("'" + name_ + "': expected a reduction over earlier elements of '" + name_ +
                         "' to be the whole value, got one inside another expression");
    }
    Visitor::visit_node(node);
  }

 private:
  const std::string& name_;
  const ir::Buffer* self_;
};

std::vector<Expr> variables_of(const std::vector<ir::Axis>& axes) {
  std::vector<Expr> variables;
  for (const ir::Axis& axis : axes) variables.push_back(axis.var);
  return variables;
}

std::vector<ir::Axis> fresh_axes(std::vector<Expr> shape, const std::string& name) {
  std::vector<ir::Axis> axes;
  for (const Expr& extent : checked_shape(std::move(shape), name))
    axes.push_back({ir::Var::make("i" + std::to_string(axes.size())), Expr(0), extent});
  return axes;
}

bool is_variable_of(const std::vector<ir::Axis>& axes, const Expr& index) {
  return std::any_of(axes.begin(), axes.end(), [&](const ir::Axis& axis) { return axis.var.same_as(index); });
}

// Whether an index takes only values of a dimension of this extent.
bool covers_no_more(const std::vector<ir::Axis>& axes, const Expr& index, const Expr& extent) {
  const auto is_whole = [&](const ir::Axis& axis) {
    return axis.var.same_as(index) && ir::is_constant(axis.min, 0) && ir::equal(axis.extent, extent);
  };
  if (std::any_of(axes.begin(), axes.end(), is_whole)) return true;
  const std::int64_t *value = ir::as_int(index), *size = ir::as_int(extent);
  return value != nullptr && size != nullptr && *value >= 0 && *value < *size;
}

void check_along(std::size_t along, std::size_t rank, const std::string& name) {
  if (along < rank) return;
  throw CompileError("'" + name + "': expected one of " + counted(rank, "axis", "axes") + " to go along, got axis " +
                     std::to_string(along));
}

// Returns a sequence along one of so many axes, which crosses no other axis.
std::shared_ptr<Sequence> sequence_along(std::size_t along, std::size_t axes, const Tensor& self) {
  auto sequence = std::make_shared<Sequence>();
  sequence->axis = along;
  sequence->self = self.buffer();
  sequence->crossed.assign(axes, false);
  sequence->crossed[along] = true;
  return sequence;
}

Expr combined(Update how, const Expr& before, const Expr& value) {
  switch (how) {
    case Update::set: return value;
    case Update::sum: return before + value;
    case Update::prod: return before * value;
    case Update::min: return ir::min(before, value);
    case Update::max: return ir::max(before, value);
  }
  throw InternalError("an update of no kind");
}

}  // namespace

Tensor self_tensor(std::vector<Expr> shape, DType dtype, std::string name) {
  auto buffer = std::make_shared<ir::Buffer>();
  buffer->name = std::move(name);
  buffer->dtype = dtype;
  buffer->shape = std::move(shape);
  buffer->scope = ir::Scope::global;
  return Tensor(std::move(buffer));
}

Tensor recurrence(std::vector<ir::Axis> axes, Expr value, std::size_t along, const Tensor& self, std::string name,
                  const std::vector<UncheckedIndex>& unchecked, IndexChecks checks) {
  check_along(along, axes.size(), name);
  CheckSelfReads(name, self.buffer().get()).check(value);
  const auto sequence = sequence_along(along, axes.size(), self);
  analysis::for_each_load(value, [&](const ir::Load& load) {
    if (load.buffer != self.buffer()) return;
    for (std::size_t d = 0; d < axes.size(); ++d)
      if (!load.indices[d].same_as(axes[d].var)) sequence->crossed[d] = true;
  });
  return compute_in_sequence(std::move(axes), std::move(value), std::move(name), sequence, unchecked, checks);
}

Tensor scatter_over(const Tensor& before, std::vector<ir::Axis> axes, std::vector<Expr> place, Expr value,
                    std::size_t along, const Tensor& self, std::string name,
                    const std::vector<UncheckedIndex>& unchecked, IndexChecks checks) {
  check_along(along, axes.size(), name);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto is_axis = [&](const Expr& index) { return index.same_as(axes[a].var); };
    if (a == along || std::any_of(place.begin(), place.end(), is_axis)) continue;
    throw CompileError("'" + name + "': expected '" + axes[a].var.as<ir::Var>()->name +
                       "' to be an index of the updated element, or updates in order along it");
  }
  const auto sequence = sequence_along(along, axes.size(), self);
  sequence->place = std::move(place);
  sequence->before =
      compute(before.shape(), [&](const std::vector<Expr>& index) { return before.at(index); }, name + ".before");
  return compute_in_sequence(std::move(axes), std::move(value), std::move(name), sequence, unchecked, checks);
}

namespace {

Tensor scanned(std::vector<Expr> shape, DType dtype, std::size_t along, const ScanFunction& element, std::string name,
               IndexChecks checks) {
  std::vector<ir::Axis> axes = fresh_axes(shape, name);
  check_along(along, axes.size(), name);
  const Tensor self = self_tensor(std::move(shape), dtype, name);
  Expr value = element(variables_of(axes), self);
  if (!value.defined()) throw CompileError("'" + name + "': expected a value for each element");
  analysis::for_each_load(value, [&](const ir::Load& load) {
    if (load.buffer != self.buffer()) return;
    const auto index = analysis::affine_in(load.indices[along], axes[along].var);
    const std::int64_t* step = index && index->coefficient == 1 ? ir::as_int(index->rest) : nullptr;
    if (step != nullptr && *step < 0) return;
    throw CompileError("'" + name + "': expected to read elements with a smaller index " + std::to_string(along + 1) +
                       ", along which it is computed, such as '" + axes[along].var.as<ir::Var>()->name + " - 1'");
  });
  return recurrence(std::move(axes), ir::cast(dtype, value), along, self, std::move(name), {}, checks);
}

Tensor scattered(const Tensor& before, std::vector<Expr> updates, std::size_t along, Update how,
                 const ScatterFunction& element, std::string name, IndexChecks checks) {
  if (before.buffer() == nullptr) throw CompileError("'" + name + "': expected a tensor to update");
  std::vector<ir::Axis> axes = fresh_axes(std::move(updates), name);
  check_along(along, axes.size(), name);
  const Tensor self = self_tensor(before.shape(), before.dtype(), name);
  ScatterElement update = element(variables_of(axes));
  if (!update.value.defined()) throw CompileError("'" + name + "': expected a value for each update");
  if (update.condition.defined()) {
    for (std::size_t d = 0; d < update.place.size() && d < before.shape().size(); ++d) {
      Expr& index = update.place[d];
      if (is_variable_of(axes, index)) continue;
      index = ir::select(update.condition, index, Expr(0));
      // A dimension of size 0 has no index 0.
      const Expr& size = before.shape()[d];
      Expr& count = axes[along].extent;
      if (ir::is_constant(size, 0))
        count = Expr(0);
      else if (ir::as_int(size) == nullptr)
        count = ir::select(size > 0, count, Expr(0));
    }
  }
  const Expr current = self.at(std::move(update.place));
  const std::vector<Expr>& place = current.as<ir::Load>()->indices;
  std::vector<UncheckedIndex> unchecked;
  for (std::size_t d = 0; d < place.size(); ++d)
    if (!covers_no_more(axes, place[d], before.shape()[d])) unchecked.push_back({current, d});
  Expr value = ir::cast(before.dtype(), combined(how, current, ir::cast(before.dtype(), update.value)));
  if (update.condition.defined()) value = ir::select(update.condition, value, current);
  return scatter_over(before, std::move(axes), place, std::move(value), along, self, std::move(name), unchecked,
                      checks);
}

}  // namespace

Tensor scan(std::vector<Expr> shape, DType dtype, std::size_t along, const ScanFunction& element, std::string name) {
  return scanned(std::move(shape), dtype, along, element, std::move(name), IndexChecks::stage);
}

Tensor scatter(const Tensor& before, std::vector<Expr> updates, std::size_t along, Update how,
               const ScatterFunction& element, std::string name) {
  return scattered(before, std::move(updates), along, how, element, std::move(name), IndexChecks::stage);
}

Tensor library::scan(std::vector<Expr> shape, DType dtype, std::size_t along, const ScanFunction& element,
                     std::string name) {
  return scanned(std::move(shape), dtype, along, element, std::move(name), IndexChecks::sizes);
}

Tensor library::scatter(const Tensor& before, std::vector<Expr> updates, std::size_t along, Update how,
                        const ScatterFunction& element, std::string name) {
  return scattered(before, std::move(updates), along, how, element, std::move(name), IndexChecks::sizes);
}

}  // namespace ferry::lang
