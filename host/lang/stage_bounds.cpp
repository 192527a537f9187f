#include "host/lang/stage_bounds.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "host/lang/guarded_visitor.h"
#include "host/lang/index_bounds.h"
#include "host/lang/stages.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

namespace ferry::lang {
namespace {

using Vars = std::unordered_set<const ir::ExprNode*>;

// Collects the variables that are sizes, and those that are never negative: whole dimensions.
class SizeFinder : public ir::Visitor {
 public:
  Vars sizes;
  std::vector<Expr> dimensions;

  void add_dimension(const Expr& extent) {
    add(extent);
    if (extent.as<ir::Var>() != nullptr) dimensions.push_back(extent);
  }

 protected:
  using Visitor::visit_node;
  void visit_node(const ir::Load& node) override {
    for (const Expr& extent : node.buffer->shape) add_dimension(extent);
    Visitor::visit_node(node);
  }
  void visit_node(const ir::Reduce& node) override {
    for (const ir::Axis& axis : node.axes) {
      add(axis.min);
      add(axis.extent);
    }
    Visitor::visit_node(node);
  }

 private:
  void add(const Expr& extent) {
    for (const Expr& variable : ir::free_vars(extent)) sizes.insert(variable.get());
  }
};

class ReadChecker : public GuardedVisitor {
 public:
  ReadChecker(const std::vector<ir::Axis>& axes, const std::string& name, const Sequence* sequence,
              const SizeFinder& sizes)
      : GuardedVisitor(axes), name_(name), sequence_(sequence), sizes_(sizes) {}
  StageBounds found;

 protected:
  using GuardedVisitor::visit_node;

  void visit_node(const ir::Load& node) override {
    Visitor::visit_node(node);
    if (is_place(node) || !checked_.insert({&node, guards().empty() ? nullptr : guards().back().get()}).second) return;
    for (std::size_t d = 0; d < node.indices.size(); ++d) {
      if (!is_whole_axis(node.indices[d], node.buffer->shape[d]) && loads_of(node.indices[d]).empty()) check(node, d);
    }
  }

 private:
  // Whether it is the element that a scatter updates, whose indices are checked where they are computed.
  bool is_place(const ir::Load& node) const {
    if (sequence_ == nullptr || !sequence_->is_scatter() || node.buffer != sequence_->self) return false;
    return std::equal(node.indices.begin(), node.indices.end(), sequence_->place.begin(), sequence_->place.end(),
                      ir::equal);
  }

  bool is_whole_axis(const Expr& index, const Expr& size) const {
    return std::any_of(axes().begin(), axes().end(), [&](const ir::Axis& axis) {
      return axis.var.same_as(index) && ir::is_constant(axis.min, 0) && ir::equal(axis.extent, size);
    });
  }

  void check(const ir::Load& node, std::size_t dimension) {
    // Each index has atoms of its own, so that no stage has too many.
    Algebra algebra;
    for (const Expr& size : sizes_.dimensions) algebra.set_non_negative(size);
    const auto is_data = [this](const Expr& variable) {
      return !sizes_.sizes.contains(variable.get()) &&
             std::none_of(axes().begin(), axes().end(),
                          [&](const ir::Axis& axis) { return axis.var.same_as(variable); });
    };
    IndexBounds bounds(algebra, is_data);
    IndexBounds::Verdict verdict;
    try {
      for (const ir::Axis& axis : axes()) bounds.add_index(axis.var);
      for (const ir::Axis& axis : axes())
        bounds.set(axis.var, {algebra.of(axis.min), algebra.add(algebra.of(axis.min), algebra.of(axis.extent))});
      verdict =
          bounds.check(node, dimension, guards(),
                       "'" + name_ + "' reads '" + node.buffer->name + "' at " + ir::to_text(node.indices[dimension]));
    } catch (const CompileError&) {
      verdict.kind = IndexBounds::Kind::unchecked;  // beyond the limits of polynomials
    }
    switch (verdict.kind) {
      case IndexBounds::Kind::safe:
      case IndexBounds::Kind::guarded: break;
      case IndexBounds::Kind::unchecked:
        found.unchecked.push_back({ir::Load::make(node.buffer, node.indices), dimension});
        break;
      case IndexBounds::Kind::required: require(std::move(verdict)); break;
      case IndexBounds::Kind::outside: throw CompileError(verdict.text);
    }
  }

  void require(IndexBounds::Verdict verdict) {
    const bool known =
        std::any_of(found.requirements.begin(), found.requirements.end(),
                    [&](const ir::Requirement& other) { return ir::equal(other.condition, verdict.condition); });
    if (!known) found.requirements.push_back({std::move(verdict.condition), std::move(verdict.text)});
  }

  const std::string& name_;
  const Sequence* sequence_;
  const SizeFinder& sizes_;
  std::set<std::pair<const ir::ExprNode*, const ir::ExprNode*>> checked_;  // loads under their innermost guards
};

}  // namespace

StageBounds bounds_of_reads(const std::vector<ir::Axis>& axes, const std::vector<Expr>& values, const std::string& name,
                            const Sequence* sequence) {
  SizeFinder sizes;
  for (const ir::Axis& axis : axes) sizes.add_dimension(axis.extent);
  for (const Expr& value : values) sizes.visit(value);
  ReadChecker checker(axes, name, sequence, sizes);
  for (const Expr& value : values) checker.visit(value);
  return std::move(checker.found);
}

}  // namespace ferry::lang
