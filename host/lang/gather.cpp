#include "host/lang/gather.h"

#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "host/lang/guarded_visitor.h"
#include "host/lang/stages.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace ferry::lang {
namespace {

// An index into a tensor, with the condition under which it is used.
struct Gather {
  std::string message;
  Expr inside;  // over the axes around it; true where the index is not used
  std::vector<ir::Axis> axes;
};

struct Bounds {
  std::int64_t low = 0, high = 0;  // both inclusive
};

Bounds bounds_of(ir::Type type) {
  if (type.is_bool()) return {0, 1};
  const int bits = type.bits();
  // Values in the upper half of uint64 are negative as an index.
  if (bits == 64) return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  if (type.is_unsigned_int()) return {0, (std::int64_t{1} << bits) - 1};
  return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

Bounds bounds_of(const Expr& index) {
  if (const std::int64_t* value = ir::as_int(index)) return {*value, *value};
  if (const auto* cast = index.as<ir::Cast>()) {
    const Bounds all = bounds_of(cast->type);
    if (cast->value.type().is_float()) return all;
    const Bounds from = bounds_of(cast->value);
    return from.low >= all.low && from.high <= all.high ? from : all;
  }
  if (const auto* binary = index.as<ir::Binary>()) {
    const Bounds left = bounds_of(binary->left), right = bounds_of(binary->right);
    if (binary->op == ir::BinaryOp::min) return {std::min(left.low, right.low), std::min(left.high, right.high)};
    if (binary->op == ir::BinaryOp::max) return {std::max(left.low, right.low), std::max(left.high, right.high)};
    const std::int64_t* by = ir::as_int(binary->right);
    if (binary->op == ir::BinaryOp::mod && by != nullptr && *by > 0) return {0, *by - 1};
    if (binary->op == ir::BinaryOp::bit_and && by != nullptr && *by >= 0) return {0, *by};
  }
  return bounds_of(index.type());
}

bool stays_inside(const Expr& index, const Expr& extent) {
  const std::int64_t* size = ir::as_int(extent);
  const Bounds bounds = bounds_of(index);
  return size != nullptr && bounds.low >= 0 && bounds.high < *size;
}

// Limits the length, since messages are stored in the manifest.
std::string shortened(std::string text) {
  constexpr std::size_t kMost = 200;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

class Gathers : public GuardedVisitor {
 public:
  Gathers(const std::vector<ir::Axis>& axes, const std::string& name, const std::vector<UncheckedIndex>& unchecked,
          const ir::Buffer* updated)
      : GuardedVisitor(axes), name_(name), unchecked_(unchecked), updated_(updated) {}
  std::vector<Gather> found;

 protected:
  using GuardedVisitor::visit_node;

  void visit_node(const ir::Load& node) override {
    Visitor::visit_node(node);
    for (std::size_t d = 0; d < node.indices.size(); ++d) {
      const Expr &index = node.indices[d], &extent = node.buffer->shape[d];
      if (loads_of(index).empty() ? !is_unchecked(node, d) : stays_inside(index, extent)) continue;
      add(node, d, index >= 0 && index < extent);
    }
  }

 private:
  bool is_unchecked(const ir::Load& node, std::size_t dimension) const {
    return std::any_of(unchecked_.begin(), unchecked_.end(), [&](const UncheckedIndex& index) {
      const auto& load = *index.load.as<ir::Load>();
      return index.dimension == dimension && load.buffer == node.buffer &&
             std::equal(load.indices.begin(), load.indices.end(), node.indices.begin(), node.indices.end(), ir::equal);
    });
  }

  void add(const ir::Load& node, std::size_t dimension, Expr inside) {
    const Expr yes = ir::constant(ir::kBool, std::int64_t{1});
    for (std::size_t g = guards().size(); g-- > 0;) inside = ir::if_then_else(guards()[g], inside, yes);
    const bool known =
        std::any_of(found.begin(), found.end(), [&](const Gather& other) { return ir::equal(other.inside, inside); });
    if (known) return;
    Gather gather;
    const std::string access = node.buffer.get() == updated_ ? "is updated" : "reads '" + node.buffer->name + "'";
    gather.message = "'" + name_ + "' " + access + " outside its shape: expected " +
                     shortened(ir::to_text(node.indices[dimension])) + " as index " + std::to_string(dimension + 1) +
                     " to stay within 0:" + shortened(ir::to_text(node.buffer->shape[dimension]));
    const std::vector<Expr> used = ir::free_vars(inside);
    for (const ir::Axis& axis : axes()) {
      if (std::any_of(used.begin(), used.end(), [&](const Expr& v) { return v.same_as(axis.var); }))
        gather.axes.push_back(axis);
    }
    gather.inside = std::move(inside);
    found.push_back(std::move(gather));
  }

  std::string name_;
  const std::vector<UncheckedIndex>& unchecked_;
  const ir::Buffer* updated_;
};

}  // namespace

std::vector<GatherCheck> gather_checks(const std::vector<ir::Axis>& axes, const std::vector<Expr>& values,
                                       const std::string& name, const std::vector<UncheckedIndex>& unchecked,
                                       const ir::Buffer* updated) {
  Gathers gathers(axes, name, unchecked, updated);
  for (const Expr& value : values) gathers.visit(value);
  std::vector<GatherCheck> checks;
  for (Gather& gather : gathers.found) {
    ir::Substitution fresh;
    for (ir::Axis& axis : gather.axes) {
      const Expr renamed = ir::Var::make(axis.var.as<ir::Var>()->name);
      fresh.emplace(axis.var.get(), renamed);
      axis.var = renamed;
    }
    Expr value = ir::substitute(gather.inside, fresh);
    if (!gather.axes.empty()) {
      const ir::ReducerRef all = ir::make_reducer(ir::ReduceOp::all, ir::kBool);
      value = ir::Reduce::make(all, {std::move(value)}, std::move(gather.axes));
    }
    checks.push_back({std::move(value), std::move(gather.message)});
  }
  return checks;
}

}  // namespace ferry::lang
