#include "crosscompile/passes/loops/guards.h"

#include "crosscompile/analysis/wrapping.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

class GuardFinder : public Visitor {
 public:
  explicit GuardFinder(Assumptions& assumptions) : assumptions_(assumptions) {}
  std::vector<Guard> guards;

  void collect_root(const Expr& condition) {
    const auto* binary = condition.as<Binary>();
    collect(condition, binary == nullptr || binary->op != BinaryOp::logical_or);
  }

 protected:
  using Visitor::visit_node;

  void visit_node(const If& node) override {
    collect_root(node.condition);
    Visitor::visit_node(node);
  }
  void visit_node(const IfThenElse& node) override {
    collect_root(node.condition);
    Visitor::visit_node(node);
  }
  void visit_node(const Select& node) override {
    const std::size_t first = guards.size();
    collect_root(node.condition);
    for (std::size_t i = first; i < guards.size(); ++i) guards[i].chooses = true;
    Visitor::visit_node(node);
  }

  void visit_node(const For& node) override {
    loops_.push_back({node.var, substitute(node.min, lets_), substitute(node.extent, lets_)});
    Visitor::visit_node(node);
    loops_.pop_back();
  }

  void visit_node(const LetStmt& node) override {
    bind(node.var, node.value);
    Visitor::visit_node(node);
  }
  void visit_node(const Let& node) override {
    bind(node.var, node.value);
    Visitor::visit_node(node);
  }

 private:
  void bind(const Expr& var, const Expr& value) {
    if (analysis::is_arithmetic(value)) {
      lets_[var.get()] = substitute(value, lets_);
    } else {
      unknown_.push_back(var);
    }
  }

  // `wanted`: the outcome of this part that gives its whole condition the wanted outcome. Where a && b is wanted false,
  // either part could make it so, and neither is collected.
  void collect(const Expr& condition, bool wanted) {
    if (const auto* unary = condition.as<Unary>(); unary != nullptr && unary->op == UnaryOp::logical_not)
      return collect(unary->value, !wanted);
    const auto* binary = condition.as<Binary>();
    if (binary == nullptr) return;
    if (binary->op == (wanted ? BinaryOp::logical_and : BinaryOp::logical_or)) {
      collect(binary->left, wanted);
      collect(binary->right, wanted);
    } else if (is_comparison(binary->op) && binary->left.type() == kIndex) {
      add(*binary, wanted);
    }
  }

  void add(const Binary& node, bool wanted) {
    if (!analysis::is_arithmetic(node.left) || !analysis::is_arithmetic(node.right)) return;
    // A margin is a difference, and gets solved: neither may wrap where the comparison does not.
    const analysis::IsData is_data = [this](const Expr& var) { return assumptions_.is_data(var); };
    const auto side = [&](const Expr& of) {
      const Expr value = substitute(of, lets_);
      const bool is_far = analysis::reach_of(value, is_data).constant > analysis::kLargestLiteral;
      return is_far || analysis::may_wrap(value, is_data) ? Expr() : analysis::limited(value, is_data);
    };
    const Expr left = side(node.left), right = side(node.right);
    if (!left.defined() || !right.defined()) return;
    Guard guard{&node, wanted, margin_of(node.op, left, right, wanted), {}, false};
    if (!guard.margin.defined() || analysis::reach_of(guard.margin, is_data).wraps) return;
    const auto depends_on = [&](const Expr& var) {
      return uses_var(guard.margin, var) ||
             std::any_of(guard.inner.begin(), guard.inner.end(), [&](const analysis::Range& loop) {
               return uses_var(loop.min, var) || uses_var(loop.extent, var);
             });
    };
    for (std::size_t i = loops_.size(); i-- > 0;) {
      if (depends_on(loops_[i].var)) guard.inner.insert(guard.inner.begin(), loops_[i]);
    }
    if (std::any_of(unknown_.begin(), unknown_.end(), depends_on)) return;
    guards.push_back(std::move(guard));
  }

  Expr margin_of(BinaryOp op, const Expr& left, const Expr& right, bool wanted) {
    if (op == BinaryOp::lt) return wanted ? right - left - 1 : left - right;
    if (op == BinaryOp::le) return wanted ? right - left : left - right - 1;
    if (op == BinaryOp::gt) return wanted ? left - right - 1 : right - left;
    if (op == BinaryOp::ge) return wanted ? left - right : right - left - 1;
    const bool wanted_different = wanted == (op == BinaryOp::ne);
    if (!wanted_different) return {};
    if (proves(left >= right, 0)) return left - right - 1;
    if (proves(left <= right, 0)) return right - left - 1;
    return {};
  }

  // Proves the condition inside all loops from the given one on; the loops are entered only for the few conditions that
  // need it.
  bool proves(const Expr& condition, std::size_t loop) {
    if (loop == loops_.size()) return assumptions_.proves(condition);
    const Assumptions::Loop inside(assumptions_, loops_[loop].var, loops_[loop].min, loops_[loop].extent);
    return proves(condition, loop + 1);
  }

  Assumptions& assumptions_;
  std::vector<analysis::Range> loops_;
  Substitution lets_;
  std::vector<Expr> unknown_;
};

class Assumer : public Mutator {
 public:
  explicit Assumer(const Outcomes& outcomes) : outcomes_(outcomes) {}

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Binary& node, const Expr& self) override {
    if (const auto found = outcomes_.find(&node); found != outcomes_.end())
      return constant(node.type, std::int64_t{found->second});
    const Expr changed = Mutator::mutate_node(node, self);
    if (changed.same_as(self)) return self;
    const auto& binary = *changed.as<Binary>();
    if (binary.op == BinaryOp::logical_and) return binary.left && binary.right;
    if (binary.op == BinaryOp::logical_or) return binary.left || binary.right;
    return changed;
  }

  Expr mutate_node(const Unary& node, const Expr& self) override {
    const Expr changed = Mutator::mutate_node(node, self);
    return node.op == UnaryOp::logical_not && !changed.same_as(self) ? !changed.as<Unary>()->value : changed;
  }

  Expr mutate_node(const IfThenElse& node, const Expr& self) override { return choice(node, self); }
  Expr mutate_node(const Select& node, const Expr& self) override { return choice(node, self); }

  Stmt mutate_node(const If& node, const Stmt& self) override {
    const Expr condition = mutate(node.condition);
    if (const std::int64_t* known = as_int(condition)) return mutate(*known != 0 ? node.on_true : node.on_false);
    return Mutator::mutate_node(node, self);
  }

 private:
  // Each part is mutated only once: conditions nest, and mutating twice at each level would take exponential time.
  template <class Node>
  Expr choice(const Node& node, const Expr& self) {
    const Expr condition = mutate(node.condition);
    if (const std::int64_t* known = as_int(condition)) return mutate(*known != 0 ? node.on_true : node.on_false);
    const Expr on_true = mutate(node.on_true), on_false = mutate(node.on_false);
    const bool same =
        condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false);
    return same ? self : Node::make(condition, on_true, on_false);
  }

  const Outcomes& outcomes_;
};

}  // namespace

std::vector<Guard> find_guards(const Stmt& stmt, Assumptions& assumptions) {
  GuardFinder finder(assumptions);
  finder.visit(stmt);
  return std::move(finder.guards);
}

std::vector<Guard> find_guards(const Expr& condition, Assumptions& assumptions) {
  GuardFinder finder(assumptions);
  finder.collect_root(condition);
  return std::move(finder.guards);
}

Stmt assume(const Stmt& stmt, const Outcomes& outcomes) { return Assumer(outcomes).mutate(stmt); }
Expr assume(const Expr& expr, const Outcomes& outcomes) { return Assumer(outcomes).mutate(expr); }

bool tests_first(const Stmt& body, const Guard& guard, Assumptions& assumptions) {
  const auto* guarded = body.as<If>();
  if (guarded == nullptr) return false;
  const std::vector<Guard> tests = find_guards(guarded->condition, assumptions);
  return std::any_of(tests.begin(), tests.end(),
                     [&](const Guard& test) { return test.comparison == guard.comparison; });
}

}  // namespace ferry::passes
