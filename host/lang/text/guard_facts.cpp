#include "host/lang/text/guard_facts.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::lang {
namespace {

class FactCollector {
 public:
  explicit FactCollector(Algebra& algebra) : algebra_(algebra) {}
  std::vector<Polynomial> facts;

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

  void compare(const ir::Binary& node, bool holds) {
    const Polynomial difference = algebra_.subtract(algebra_.of(node.left), algebra_.of(node.right));
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
};

}  // namespace

std::vector<Polynomial> guard_facts(const std::vector<ir::Expr>& conditions, Algebra& algebra) {
  FactCollector collector(algebra);
  for (const ir::Expr& condition : conditions) collector.collect(condition, true);
  return std::move(collector.facts);
}

}  // namespace ferry::lang
