#include "crosscompile/analysis/work_estimate.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <unordered_set>

namespace ferry::analysis {
namespace {

constexpr std::int64_t kCallCost = 16;
constexpr std::int64_t kUnknownExtent = 8;

// Counts the operations in the expressions of one statement, without the statements inside it.
class Operations : public ir::Visitor {
 public:
  explicit Operations(const Target& target) : target_(target) {}
  std::int64_t count = 0;

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Binary& node) override {
    add(node.type, 1);
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Cast& node) override {
    add(node.type, 1);
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Load& node) override {
    add(node.type, 1);
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Call& node) override {
    // Library calls work on one lane at a time.
    count += kCallCost * node.type.lanes;
    ir::Visitor::visit_node(node);
  }

 private:
  void add(ir::Type type, std::int64_t operations) {
    const std::uint32_t lanes = target_.lanes(static_cast<std::uint32_t>(dtype_bytes(type.code)));
    count += operations * std::max<std::int64_t>(1, type.lanes / lanes);
  }
  const Target& target_;
};

class Estimate {
 public:
  Estimate(const Target& target, const ir::Expr& loop_variable) : target_(target) {
    inner_.insert(loop_variable.get());
  }

  ir::Expr of(const ir::Stmt& stmt) {
    if (!stmt.defined()) return ir::Expr(0);
    if (const auto* loop = stmt.as<ir::For>()) {
      inner_.insert(loop->var.get());
      const ir::Expr extent =
          known_outside(loop->extent) ? ir::max(loop->extent, ir::Expr(0)) : ir::Expr(kUnknownExtent);
      return extent * (of(loop->body) + ir::Expr(1));
    }
    if (const auto* block = stmt.as<ir::Block>()) {
      ir::Expr sum(0);
      for (const ir::Stmt& part : block->body) sum = sum + of(part);
      return sum;
    }
    if (const auto* branch = stmt.as<ir::If>()) return of(branch->on_true);
    if (const auto* allocate = stmt.as<ir::Allocate>()) return of(allocate->body);
    if (const auto* let = stmt.as<ir::LetStmt>()) {
      inner_.insert(let->var.get());
      return of(let->body) + operations(let->value);
    }
    if (const auto* store = stmt.as<ir::Store>()) return operations(store->value) + ir::Expr(1);
    return ir::Expr(1);
  }

 private:
  bool known_outside(const ir::Expr& expr) const {
    const std::vector<ir::Expr> used = ir::free_vars(expr);
    return std::none_of(used.begin(), used.end(), [&](const ir::Expr& var) { return inner_.contains(var.get()); });
  }
  ir::Expr operations(const ir::Expr& expr) const {
    Operations found(target_);
    found.visit(expr);
    return ir::Expr(found.count);
  }

  const Target& target_;
  std::unordered_set<const ir::ExprNode*> inner_;  // variables that have no value outside of the loop
};

}  // namespace

ir::Expr work_of_iteration(const ir::For& loop, const Target& target) {
  return Estimate(target, loop.var).of(loop.body) + ir::Expr(1);
}

}  // namespace ferry::analysis
