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
  using Conditions = std::vector<Expr>;
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
    // Guards of a split's tail are left to partition_loops, which makes two loops of one.
    if (const auto* guarded = stmt.as<If>()) return !guarded->on_false.defined() && collect(guarded->on_true);
    const auto* store = stmt.as<Store>();
    if (store == nullptr) return false;
    const Expr term = added(*store);
    if (!term.defined() || (term.type().is_float() && !sums_.holds(*store->buffer))) return false;
    Conditions conditions;
    nonzero_where(term, conditions);
    found_.push_back({conditions, loops_});
    return !conditions.empty();
  }

  // Collects conditions outside of which the value is 0.
  static void nonzero_where(const Expr& value, Conditions& conditions) {
    if (const auto* converted = value.as<Cast>()) return nonzero_where(converted->value, conditions);
    if (const auto* choice = value.as<Select>())
      return of_choice(choice->condition, choice->on_true, choice->on_false, conditions);
    if (const auto* choice = value.as<IfThenElse>())
      return of_choice(choice->condition, choice->on_true, choice->on_false, conditions);
  }
  static void of_choice(const Expr& condition, const Expr& on_true, const Expr& on_false, Conditions& conditions) {
    if (is_zero(on_false)) {
      conditions.push_back(condition);
      nonzero_where(on_true, conditions);
    } else if (is_zero(on_true)) {
      conditions.push_back(!condition);
      nonzero_where(on_false, conditions);
    }
  }

  const NeverNegativeZero& sums_;
  std::vector<analysis::Range> loops_;
  std::vector<Effect> found_;
};

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
    Stmt body = mutate(node.body);
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
    for (const Expr& condition : effect.conditions) {
      // Either part of a || b may hold alone.
      if (const auto* root = condition.as<Binary>(); root != nullptr && root->op == BinaryOp::logical_or) continue;
      for (const Guard& guard : find_guards(condition, assumptions_)) {
        const auto largest = analysis::upper_bound(guard.margin, effect.loops);
        if (!largest) continue;
        const auto affine = analysis::affine_in(*largest, loop.var);
        if (!affine || affine->coefficient == 0) continue;
        if (affine->coefficient > 0) {
          const Expr first = -(affine->rest / affine->coefficient);
          part.first = part.first.defined() ? max(part.first, first) : first;
        } else {
          const Expr last = affine->rest / -affine->coefficient;
          part.last = part.last.defined() ? min(part.last, last) : last;
        }
      }
    }
    return part;
  }

  Assumptions assumptions_;
  const NeverNegativeZero sums_;
};

}  // namespace

Function trim_reductions(Function function) {
  function.body = Trimmer(function).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
