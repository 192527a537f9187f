#include "crosscompile/passes/loops/trim_reductions.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/loops/guards.h"
#include "crosscompile/passes/simplify/assumptions.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

// Loops of at most so many iterations are unrolled or take little time.
constexpr std::int64_t kShort = 64;

bool is_zero(const Expr& expr) {
  if (const auto* number = expr.as<FloatImm>()) return number->value == 0;
  return is_constant(expr, 0);
}

bool loads(const Expr& expr, const Store& store) {
  const auto* load = expr.as<Load>();
  if (load == nullptr || load->mask.defined() || load->buffer != store.buffer) return false;
  return std::equal(load->indices.begin(), load->indices.end(), store.indices.begin(), store.indices.end(),
                    [](const Expr& a, const Expr& b) { return equal(a, b); });
}

// Returns what a store adds to its element; nothing if it does anything else.
Expr added(const Store& store) {
  const auto* sum = store.value.as<Binary>();
  if (sum == nullptr || sum->op != BinaryOp::add || store.mask.defined()) return {};
  if (loads(sum->left, store)) return sum->right;
  return loads(sum->right, store) ? sum->left : Expr();
}

// Finds the buffers that never hold -0: nothing is stored to them but 0, and sums of what they hold and something else,
// which are -0 only where both are.
class NeverNegativeZero : public Visitor {
 public:
  explicit NeverNegativeZero(const Function& function) {
    for (const FunctionParameter& parameter : function.parameters)
      if (parameter.kind == ParameterKind::tensor && parameter.direction != Direction::out)
        others_.insert(parameter.buffer.get());
    visit(function.body);
  }
  bool holds(const Buffer& buffer) const { return !others_.contains(&buffer); }

 protected:
  using Visitor::visit_node;
  void visit_node(const Store& node) override {
    const auto* number = node.value.as<FloatImm>();
    const bool is_positive_zero = number != nullptr && number->value == 0 && !std::signbit(number->value);
    if (!is_positive_zero && !added(node).defined()) others_.insert(node.buffer.get());
    Visitor::visit_node(node);
  }
  void visit_node(const Call& node) override {
    // A function that is given the address of an element may store anything there.
    if (node.callee.op == CallOp::address_of)
      for (const Expr& argument : node.arguments)
        if (const auto* load = argument.as<Load>()) others_.insert(load->buffer.get());
    Visitor::visit_node(node);
  }

 private:
  std::set<const Buffer*> others_;
};

// Collects for each statement inside of a loop the conditions outside of which it does nothing.
class Effects {
 public:
  struct Conditions {
    std::vector<Expr> around;  // conditions of enclosing Ifs, the outermost first
    std::vector<Expr> inside;  // conditions in the term of a sum
    bool empty() const { return around.empty() && inside.empty(); }
  };
  struct Effect {
    Conditions conditions;
    std::vector<analysis::Range> loops;  // around the statement, inside of the loop
  };

  explicit Effects(const NeverNegativeZero& sums) : sums_(sums) {}

  // Returns nothing if some statement always does something.
  std::optional<std::vector<Effect>> of(const Stmt& body) {
    if (!collect(body)) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool collect(const Stmt& stmt) {
    if (const auto* block = stmt.as<Block>())
      return std::all_of(block->body.begin(), block->body.end(), [&](const Stmt& each) { return collect(each); });
    if (const auto* loop = stmt.as<For>()) {
      loops_.push_back({loop->var, loop->min, loop->extent});
      const bool is_known = collect(loop->body);
      loops_.pop_back();
      return is_known;
    }
    if (const auto* guarded = stmt.as<If>(); guarded != nullptr && !guarded->on_false.defined()) {
      around_.push_back(guarded->condition);
      const bool is_known = collect(guarded->on_true);
      around_.pop_back();
      return is_known;
    }
    Conditions conditions{around_, {}};
    if (const auto* store = stmt.as<Store>()) {
      const Expr term = added(*store);
      if (term.defined() && (!term.type().is_float() || sums_.holds(*store->buffer)))
        nonzero_where(term, conditions.inside);
    }
    found_.push_back({conditions, loops_});
    return !conditions.empty();
  }

  // Collects conditions outside of which the value is 0.
  static void nonzero_where(const Expr& value, std::vector<Expr>& conditions) {
    if (const auto* converted = value.as<Cast>()) return nonzero_where(converted->value, conditions);
    if (const auto* choice = value.as<Select>())
      return of_choice(choice->condition, choice->on_true, choice->on_false, conditions);
    if (const auto* choice = value.as<IfThenElse>())
      return of_choice(choice->condition, choice->on_true, choice->on_false, conditions);
  }
  static void of_choice(const Expr& condition, const Expr& on_true, const Expr& on_false,
                        std::vector<Expr>& conditions) {
    if (is_zero(on_false)) {
      conditions.push_back(condition);
      nonzero_where(on_true, conditions);
    } else if (is_zero(on_true)) {
      conditions.push_back(!condition);
      nonzero_where(on_false, conditions);
    }
  }

  const NeverNegativeZero& sums_;
  std::vector<Expr> around_;
  std::vector<analysis::Range> loops_;
  std::vector<Effect> found_;
};

// Returns a condition that the given one implies, in which guards are found: equalities become two inequalities, and a
// choice that guards an access, `c ? d : false`, becomes `c && d`.
Expr with_guards(const Expr& condition) {
  const auto both = [](const Expr& a, const Expr& b) { return with_guards(a) && with_guards(b); };
  if (const auto* choice = condition.as<Select>(); choice != nullptr && is_constant(choice->on_false, 0))
    return both(choice->condition, choice->on_true);
  if (const auto* choice = condition.as<IfThenElse>(); choice != nullptr && is_constant(choice->on_false, 0))
    return both(choice->condition, choice->on_true);
  const auto* unary = condition.as<Unary>();
  const bool is_negated = unary != nullptr && unary->op == UnaryOp::logical_not;
  const auto* binary = (is_negated ? unary->value : condition).as<Binary>();
  if (binary == nullptr) return condition;
  if (!is_negated && binary->op == BinaryOp::logical_and) return both(binary->left, binary->right);
  const bool is_equality = binary->op == (is_negated ? BinaryOp::ne : BinaryOp::eq) && binary->left.type() == kIndex;
  return is_equality ? binary->left <= binary->right && binary->left >= binary->right : condition;
}

// Part of a loop; an undefined end is that of the loop.
struct LoopPart {
  Expr first, last;
};

class Trimmer : public Mutator {
 public:
  explicit Trimmer(const Function& function) : assumptions_(function), sums_(function) {}

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const InstructionStmt&, const Stmt& self) override { return self; }

  Stmt mutate_node(const For& node, const Stmt& self) override {
    Expr first = node.min, extent = node.extent;
    const std::int64_t* count = as_int(extent);
    if (node.for_kind == ForKind::serial && (count == nullptr || *count > kShort)) {
      const LoopPart part = needed(node);
      const Expr end = node.min + node.extent;
      if (part.first.defined()) first = max(node.min, part.first);
      if (part.first.defined() || part.last.defined())
        extent = assumptions_.simplify((part.last.defined() ? min(end, part.last + 1) : end) - first);
      first = assumptions_.simplify(first);
    }
    const Assumptions::Loop inside(assumptions_, node.var, node.min, node.extent);
    around_.push_back(node.var);
    Stmt body = mutate(node.body);
    around_.pop_back();
    if (body.same_as(node.body) && extent.same_as(node.extent)) return self;
    return For::make(node.var, first, extent, node.for_kind, body);
  }

  Stmt mutate_node(const LetStmt& node, const Stmt& self) override {
    const Assumptions::Let inside(assumptions_, node.var, node.value);
    return Mutator::mutate_node(node, self);
  }

 private:
  LoopPart needed(const For& loop) {
    const auto effects = Effects(sums_).of(loop.body);
    if (!effects || effects->empty()) return {};
    LoopPart all = needed(effects->front(), loop);
    for (std::size_t i = 1; i < effects->size(); ++i) {
      const LoopPart part = needed((*effects)[i], loop);
      all.first = all.first.defined() && part.first.defined() ? min(all.first, part.first) : Expr();
      all.last = all.last.defined() && part.last.defined() ? max(all.last, part.last) : Expr();
    }
    return all;
  }

  // Where the conditions may hold: where the margin of each, at its largest over the loops inside, is at least 0.
  LoopPart needed(const Effects::Effect& effect, const For& loop) {
    LoopPart part;
    const Assumptions::Loop inside(assumptions_, loop.var, loop.min, loop.extent);
    for (const Expr& condition : effect.conditions.inside)
      for (const Guard& guard : guards_of(condition)) restrict_to(guard, effect, loop, part);
    for (const Expr& condition : effect.conditions.around)
      for (const Guard& guard : guards_of(condition))
        if (!is_of_tail(guard, loop)) restrict_to(guard, effect, loop, part);
    return part;
  }

  std::vector<Guard> guards_of(const Expr& condition) {
    // Either part of a || b may hold alone.
    const auto* root = condition.as<Binary>();
    if (root != nullptr && root->op == BinaryOp::logical_or) return {};
    return find_guards(with_guards(condition), assumptions_);
  }

  void restrict_to(const Guard& guard, const Effects::Effect& effect, const For& loop, LoopPart& part) {
    const auto largest = analysis::upper_bound(guard.margin, effect.loops);
    if (!largest) return;
    const auto affine = analysis::affine_in(*largest, loop.var);
    if (!affine || affine->coefficient == 0) return;
    if (affine->coefficient > 0) {
      const Expr first = -(affine->rest / affine->coefficient);
      if (assumptions_.proves(first <= loop.min)) return;
      part.first = part.first.defined() ? max(part.first, first) : first;
    } else {
      const Expr last = affine->rest / -affine->coefficient;
      if (assumptions_.proves(last + 1 >= loop.min + loop.extent)) return;
      part.last = part.last.defined() ? min(part.last, last) : last;
    }
  }

  // Whether a guard tells the iterations of the last, partial one of an outer loop that a split has made. These are
  // left to partition_loops, which keeps the constant extent for all others.
  bool is_of_tail(const Guard& guard, const For& loop) const {
    const std::int64_t* extent = as_int(loop.extent);
    const auto inner = analysis::affine_in(guard.margin, loop.var);
    if (extent == nullptr || !inner) return false;
    std::int64_t step = 0;
    return std::ranges::any_of(around_, [&](const Expr& var) {
      const auto outer = analysis::affine_in(guard.margin, var);
      return outer && outer->coefficient != 0 && !__builtin_mul_overflow(inner->coefficient, *extent, &step) &&
             outer->coefficient == step;
    });
  }

  std::vector<Expr> around_;  // the variables of the loops
  Assumptions assumptions_;
  const NeverNegativeZero sums_;
};

}  // namespace

Function trim_reductions(Function function) {
  function.body = Trimmer(function).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
