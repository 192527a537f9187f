// Visits an expression, and knows the axes around each part of it and the conditions under which that is computed.
#pragma once

#include <utility>
#include <vector>

#include "crosscompile/ir/visitor.h"

namespace ferry::lang {

class GuardedVisitor : public ir::Visitor {
 protected:
  // `axes` are those around the expression.
  explicit GuardedVisitor(std::vector<ir::Axis> axes) : axes_(std::move(axes)) {}

  // Both from the outside in.
  const std::vector<ir::Axis>& axes() const { return axes_; }
  const std::vector<ir::Expr>& guards() const { return guards_; }

  using Visitor::visit_node;
  void visit_node(const ir::IfThenElse& node) override {
    visit(node.condition);
    visit_under(node.condition, node.on_true);
    visit_under(!node.condition, node.on_false);
  }
  void visit_node(const ir::Reduce& node) override {
    for (const ir::Expr& start : node.init) visit(start);
    for (const ir::Axis& axis : node.axes) {
      visit(axis.min);
      visit(axis.extent);
    }
    const std::size_t before = axes_.size();
    axes_.insert(axes_.end(), node.axes.begin(), node.axes.end());
    if (node.condition.defined()) visit(node.condition);
    for (const ir::Expr& source : node.sources) visit_under(node.condition, source);
    axes_.resize(before);
  }

 private:
  // An undefined condition always holds.
  void visit_under(const ir::Expr& condition, const ir::Expr& value) {
    if (condition.defined()) guards_.push_back(condition);
    visit(value);
    if (condition.defined()) guards_.pop_back();
  }

  std::vector<ir::Axis> axes_;
  std::vector<ir::Expr> guards_;
};

}  // namespace ferry::lang
