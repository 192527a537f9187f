#include "host/lang/bounds/guard_facts.h"

#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::lang {
namespace {

class FactCollector {
 public:
  FactCollector(Algebra& algebra, const analysis::IsData& is_data) : algebra_(algebra), is_data_(is_data) {}
  GuardFacts found;

  // Collects the facts that follow when the condition evaluates to `holds`.
  void collect(const ir::Expr& condition, bool holds) {
    if (const auto* unary = condition.as<ir::Unary>()) {
      if (unary->op == ir::UnaryOp::logical_not) collect(unary->value, !holds);
    } else if (const auto* choice = condition.as<ir::IfThenElse>()) {
      collect_choice(*choice, holds);
    } else if (const auto* binary = condition.as<ir::Binary>()) {
      if (binary->op == (holds ? ir::BinaryOp::logical_and : ir::BinaryOp::logical_or)) {
        collect(binary->left, holds);
        collect(binary->right, holds);
      } else if (ir::is_comparison(binary->op) && binary->left.type() == ir::kIndex) {
        compare(*binary, holds);
      }
    }
  }

 private:
  // If b reads elements, a && b is represented as a ? b : false, and a || b as a ? true : b.
  void collect_choice(const ir::IfThenElse& choice, bool holds) {
    if (holds && ir::is_constant(choice.on_false, 0)) {
      collect(choice.condition, true);
      collect(choice.on_true, true);
    } else if (!holds && ir::is_constant(choice.on_true, 1)) {
      collect(choice.condition, false);
      collect(choice.on_false, false);
    }
  }

  // A side that may wrap is compared by its value, whatever its parts are.
  Polynomial value_of(const ir::Expr& side) {
    if (!analysis::may_wrap(side, is_data_)) return algebra_.of(side);
    const auto known = std::find_if(found.wrapped.begin(), found.wrapped.end(),
                                    [&](const GuardFacts::Wrapped& other) { return ir::equal(other.side, side); });
    if (known != found.wrapped.end()) return algebra_.of(known->value);
    found.wrapped.push_back({side, ir::Var::make("wrapped")});
    return algebra_.of(found.wrapped.back().value);
  }

  void compare(const ir::Binary& node, bool holds) {
    const Polynomial difference = algebra_.subtract(value_of(node.left), value_of(node.right));
    std::vector<Polynomial>& facts = found.facts;
    const Polynomial opposite = algebra_.subtract({}, difference), one = Algebra::number(1);
    const auto below = [&] { facts.push_back(algebra_.subtract(opposite, one)); };
    const auto above = [&] { facts.push_back(algebra_.subtract(difference, one)); };
    const auto not_below = [&] { facts.push_back(difference); };
    const auto not_above = [&] { facts.push_back(opposite); };
    if (node.op == ir::BinaryOp::lt) {
      holds ? below() : not_below();
    } else if (node.op == ir::BinaryOp::ge) {
      holds ? not_below() : below();
    } else if (node.op == ir::BinaryOp::gt) {
      holds ? above() : not_above();
    } else if (node.op == ir::BinaryOp::le) {
      holds ? not_above() : above();
    } else if (node.op == (holds ? ir::BinaryOp::eq : ir::BinaryOp::ne)) {
      not_below();
      not_above();
    }
  }

  Algebra& algebra_;
  const analysis::IsData& is_data_;
};

}  // namespace

GuardFacts guard_facts(const std::vector<ir::Expr>& conditions, Algebra& algebra, const analysis::IsData& is_data) {
  FactCollector collector(algebra, is_data);
  for (const ir::Expr& condition : conditions) collector.collect(condition, true);
  return std::move(collector.found);
}

}  // namespace ferry::lang
