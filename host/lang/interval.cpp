#include "host/lang/interval.h"

#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>

namespace ferry::lang {
namespace {

// Whether a call's checks can compute it: the operations of manifest expressions over int64 variables.
bool computable(const ir::Expr& expr) {
  if (expr.as<ir::IntImm>() != nullptr) return true;
  if (expr.as<ir::Var>() != nullptr) return expr.type() == ir::kIndex;
  if (const auto* binary = expr.as<ir::Binary>()) {
    switch (binary->op) {
      case ir::BinaryOp::bit_and:
      case ir::BinaryOp::bit_or:
      case ir::BinaryOp::bit_xor:
      case ir::BinaryOp::shl:
      case ir::BinaryOp::shr: return false;
      default: return computable(binary->left) && computable(binary->right);
    }
  }
  if (const auto* select = expr.as<ir::Select>()) {
    return computable(select->condition) && computable(select->on_true) && computable(select->on_false);
  }
  if (const auto* unary = expr.as<ir::Unary>()) return unary->op != ir::UnaryOp::bit_not && computable(unary->value);
  return false;
}

}  // namespace

bool Intervals::uses_index(const ir::Expr& expr) const {
  const std::vector<ir::Expr> variables = ir::free_vars(expr);
  return std::any_of(variables.begin(), variables.end(),
                     [&](const ir::Expr& variable) { return indices_.find(variable.get()) != indices_.end(); });
}

bool Intervals::is_fixed(const ir::Expr& expr) const { return !uses_index(expr) && computable(expr); }

std::optional<Interval> Intervals::product(const Interval& a, const Interval& b) {
  const Polynomial ends[4] = {algebra_.multiply(a.low, b.low), algebra_.multiply(a.low, b.high),
                              algebra_.multiply(a.high, b.low), algebra_.multiply(a.high, b.high)};
  Interval result{ends[0], ends[0]};
  for (const Polynomial& end : ends) {
    result.low = algebra_.smaller(result.low, end);
    result.high = algebra_.larger(result.high, end);
  }
  return result;
}

std::optional<Interval> Intervals::of(const Polynomial& value) {
  Interval total;
  for (const auto& [atoms, factor] : value.terms) {
    std::optional<Interval> term = Interval{Algebra::number(1), Algebra::number(1)};
    for (const std::size_t number : atoms) {
      // The atoms may grow while ranges are combined, so this one is copied.
      const ir::Expr atom = algebra_.atom(number);
      const std::optional<Interval> range = of_atom(atom);
      if (!range) return std::nullopt;
      const bool both_points = term->low == term->high && range->low == range->high;
      if (both_points) {
        term->low = term->high = algebra_.multiply(term->low, range->low);
      } else if (algebra_.proves_non_negative(term->low) && algebra_.proves_non_negative(range->low)) {
        term = Interval{algebra_.multiply(term->low, range->low), algebra_.multiply(term->high, range->high)};
      } else {
        term = product(*term, *range);
      }
    }
    const Polynomial by = Algebra::number(factor);
    if (factor < 0) std::swap(term->low, term->high);
    total.low = algebra_.add(total.low, algebra_.multiply(by, term->low));
    total.high = algebra_.add(total.high, algebra_.multiply(by, term->high));
  }
  return total;
}

std::optional<Interval> Intervals::of_atom(const ir::Expr& atom) {
  if (is_fixed(atom)) {
    const Polynomial point = algebra_.of(atom);
    return Interval{point, point};
  }
  if (const auto found = known_.find(atom.get()); found != known_.end()) return found->second;
  if (const auto* select = atom.as<ir::Select>()) {
    const std::optional<Interval> a = of(select->on_true), b = of(select->on_false);
    if (!a || !b) return std::nullopt;
    return Interval{algebra_.smaller(a->low, b->low), algebra_.larger(a->high, b->high)};
  }
  const auto* binary = atom.as<ir::Binary>();
  if (binary == nullptr || atom.type() != ir::kIndex) return std::nullopt;
  const std::optional<Interval> left = of(binary->left), right = of(binary->right);
  if (!left || !right) return std::nullopt;
  switch (binary->op) {
    case ir::BinaryOp::min:
      return Interval{algebra_.smaller(left->low, right->low), algebra_.smaller(left->high, right->high)};
    case ir::BinaryOp::max:
      return Interval{algebra_.larger(left->low, right->low), algebra_.larger(left->high, right->high)};
    case ir::BinaryOp::div: {
      const std::optional<std::int64_t> by = right->low.constant();
      if (!by || *by <= 0 || !(right->low == right->high)) return std::nullopt;
      return Interval{algebra_.floor_divide(left->low, *by), algebra_.floor_divide(left->high, *by)};
    }
    case ir::BinaryOp::mod: {
      // Modulo 0 is 0, and of a negative number negative.
      const Polynomial one = Algebra::number(1);
      const Polynomial most = algebra_.subtract(algebra_.larger(right->high, one), one);
      const Polynomial zero = Algebra::number(0);
      if (algebra_.proves_non_negative(right->low)) return Interval{zero, most};
      const Polynomial least = algebra_.smaller(algebra_.add(right->low, one), zero);
      return Interval{least, algebra_.larger(most, zero)};
    }
    default: return std::nullopt;
  }
}

std::optional<Interval> Intervals::solve(Polynomial value, const ir::Expr& index, Polynomial low, Polynomial high) {
  while (true) {
    std::int64_t factor = 0;
    Polynomial rest;
    ir::Expr wrapped;
    for (const auto& [atoms, by] : value.terms) {
      const bool alone = atoms.size() == 1;
      if (alone && algebra_.atom(atoms[0]).same_as(index)) {
        factor = by;
        continue;
      }
      bool uses = false;
      for (const std::size_t number : atoms) uses = uses || ir::uses_var(algebra_.atom(number), index);
      if (uses) {
        // Only one division that holds the index can be turned around.
        if (!alone || by != 1 || wrapped.defined()) return std::nullopt;
        wrapped = algebra_.atom(atoms[0]);
      } else {
        rest.terms.emplace(atoms, by);
      }
    }
    const std::optional<Interval> others = of(rest);
    if (!others || (factor != 0) == wrapped.defined()) return std::nullopt;
    // low <= factor * index + others <= high
    low = algebra_.subtract(low, others->low);
    high = algebra_.subtract(high, others->high);
    if (factor > 0) {
      const Polynomial least = algebra_.subtract({}, algebra_.floor_divide(algebra_.subtract({}, low), factor));
      return Interval{least, algebra_.floor_divide(high, factor)};
    }
    if (factor < 0) {
      const Polynomial least = algebra_.subtract({}, algebra_.floor_divide(high, -factor));
      return Interval{least, algebra_.floor_divide(algebra_.subtract({}, low), -factor)};
    }
    const auto* division = wrapped.as<ir::Binary>();
    const std::int64_t* by = division == nullptr ? nullptr : ir::as_int(division->right);
    if (by == nullptr || division->op != ir::BinaryOp::div || *by <= 0) return std::nullopt;
    // low <= x / by <= high is by * low <= x <= by * high + by - 1.
    const Polynomial times = Algebra::number(*by);
    low = algebra_.multiply(low, times);
    high = algebra_.add(algebra_.multiply(high, times), Algebra::number(*by - 1));
    value = algebra_.of(division->left);
  }
}

}  // namespace ferry::lang
