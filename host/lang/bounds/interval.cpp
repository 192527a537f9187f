#include "host/lang/bounds/interval.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace ferry::lang {
namespace {

// The number whose negative is no int64.
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

// Whether a call's checks can compute the expression: manifest expressions over int64 variables.
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

bool Intervals::shares_index(const ir::Expr& a, const ir::Expr& b) const {
  const std::vector<ir::Expr> variables = ir::free_vars(a);
  return std::any_of(variables.begin(), variables.end(), [&](const ir::Expr& variable) {
    return indices_.find(variable.get()) != indices_.end() && ir::uses_var(b, variable);
  });
}

// Such an expression takes every value between its bounds.
bool Intervals::is_index_and_offset(const ir::Expr& expr) {
  const Polynomial value = algebra_.of(expr);
  std::size_t indices = 0;
  for (const analysis::Term& term : value.terms) {
    for (const AtomId number : atoms_of(term)) {
      const ir::Expr& atom = algebra_.atom(number);
      if (!uses_index(atom)) continue;
      if (!knows(atom) || !term.product.is_atom() || std::abs(term.coefficient) != 1) return false;
      ++indices;
    }
  }
  return indices <= 1;
}

Interval Intervals::around(std::initializer_list<Polynomial> values) {
  Interval result{*values.begin(), *values.begin()};
  for (const Polynomial& value : values) {
    result.low = algebra_.smaller(result.low, value);
    result.high = algebra_.larger(result.high, value);
  }
  return result;
}

Interval Intervals::product(const Interval& a, const Interval& b) {
  return around({algebra_.multiply(a.low, b.low), algebra_.multiply(a.low, b.high), algebra_.multiply(a.high, b.low),
                 algebra_.multiply(a.high, b.high)});
}

Polynomial Intervals::divide(const Polynomial& dividend, const Polynomial& divisor) {
  if (dividend == Polynomial()) return {};
  const std::optional<std::int64_t> whole = constant_of(dividend), by = constant_of(divisor);
  if (whole && by) return Algebra::number(ir::floor_div(*whole, *by));
  if (!by) return algebra_.of(algebra_.to_expr(dividend) / algebra_.to_expr(divisor));
  if (*by == 0) return Algebra::number(0);
  if (*by == kLeast) return algebra_.of(algebra_.to_expr(dividend) / ir::Expr(*by));
  if (*by > 0) return algebra_.floor_divide(dividend, *by);
  return algebra_.floor_divide(algebra_.subtract({}, dividend), -*by);
}

// A quotient is monotone in each operand as long as the divisor keeps its sign. A division by 0 yields 0.
std::optional<Interval> Intervals::quotient(const Interval& dividend, const Interval& divisor) {
  if (divisor.low == divisor.high) {
    const Polynomial at_low = divide(dividend.low, divisor.low), at_high = divide(dividend.high, divisor.low);
    if (algebra_.proves_non_negative(divisor.low)) return Interval{at_low, at_high};
    return around({at_low, at_high});
  }
  if (!algebra_.proves_non_negative(divisor.low)) return std::nullopt;
  const Polynomial one = Algebra::number(1);
  const bool above_zero = algebra_.proves_non_negative(algebra_.subtract(divisor.low, one));
  const Polynomial least = algebra_.larger(divisor.low, one), most = algebra_.larger(divisor.high, one);
  Interval result = around({divide(dividend.low, least), divide(dividend.low, most), divide(dividend.high, least),
                            divide(dividend.high, most)});
  if (above_zero) return result;
  result.low = algebra_.smaller(result.low, {});
  result.high = algebra_.larger(result.high, {});
  result.exact = false;
  return result;
}

// x mod 0 is 0; the remainder by a negative divisor is not positive.
Interval Intervals::remainder(const ir::Expr& dividend, const Interval& range, const Interval& divisor) {
  const Polynomial one = Algebra::number(1);
  const Polynomial most = algebra_.subtract(algebra_.larger(divisor.high, one), one);
  const Polynomial zero = Algebra::number(0);
  if (!algebra_.proves_non_negative(divisor.low)) {
    const Polynomial least = algebra_.smaller(algebra_.add(divisor.low, one), zero);
    return {least, algebra_.larger(most, zero), false};
  }
  if (!algebra_.proves_non_negative(range.low)) return {zero, most, false};
  const bool counts_from_zero = range.low == zero && divisor.low == divisor.high && is_index_and_offset(dividend);
  return {zero, algebra_.smaller(range.high, most), counts_from_zero};
}

std::optional<Interval> Intervals::of(const Polynomial& value) {
  Interval total{Algebra::number(value.constant), Algebra::number(value.constant)};
  std::vector<ir::Expr> seen;
  for (const analysis::Term& each : value.terms) {
    Interval term{Algebra::number(1), Algebra::number(1)};
    for (const AtomId number : atoms_of(each)) {
      // A copy: combining ranges may reallocate the atoms.
      const ir::Expr atom = algebra_.atom(number);
      const std::optional<Interval> range = of_atom(atom);
      if (!range) return std::nullopt;
      const bool exact = term.exact && range->exact;
      const bool both_points = term.low == term.high && range->low == range->high;
      if (both_points) {
        term.low = term.high = algebra_.multiply(term.low, range->low);
      } else if (algebra_.proves_non_negative(term.low) && algebra_.proves_non_negative(range->low)) {
        term = Interval{algebra_.multiply(term.low, range->low), algebra_.multiply(term.high, range->high)};
      } else {
        term = product(term, *range);
      }
      term.exact = exact && std::none_of(seen.begin(), seen.end(),
                                         [&](const ir::Expr& other) { return shares_index(other, atom); });
      seen.push_back(atom);
    }
    const Polynomial by = Algebra::number(each.coefficient);
    if (each.coefficient < 0) std::swap(term.low, term.high);
    total.low = algebra_.add(total.low, algebra_.multiply(by, term.low));
    total.high = algebra_.add(total.high, algebra_.multiply(by, term.high));
    total.exact = total.exact && term.exact;
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
    return Interval{algebra_.smaller(a->low, b->low), algebra_.larger(a->high, b->high), false};
  }
  const auto* binary = atom.as<ir::Binary>();
  if (binary == nullptr || atom.type() != ir::kIndex) return std::nullopt;
  const std::optional<Interval> left = of(binary->left), right = of(binary->right);
  if (!left || !right) return std::nullopt;
  std::optional<Interval> result;
  switch (binary->op) {
    case ir::BinaryOp::min:
      result = Interval{algebra_.smaller(left->low, right->low), algebra_.smaller(left->high, right->high)};
      break;
    case ir::BinaryOp::max:
      result = Interval{algebra_.larger(left->low, right->low), algebra_.larger(left->high, right->high)};
      break;
    case ir::BinaryOp::div: result = quotient(*left, *right); break;
    case ir::BinaryOp::mod: result = remainder(binary->left, *left, *right); break;
    default: return std::nullopt;
  }
  if (!result) return std::nullopt;
  result->exact = result->exact && left->exact && right->exact && !shares_index(binary->left, binary->right);
  return result;
}

std::optional<Interval> Intervals::solve(Polynomial value, const ir::Expr& index, Polynomial low, Polynomial high) {
  while (true) {
    std::int64_t factor = 0;
    Polynomial rest = Algebra::number(value.constant);
    ir::Expr wrapped;
    for (const analysis::Term& term : value.terms) {
      const std::span<const AtomId> atoms = atoms_of(term);
      const bool alone = term.product.is_atom();
      if (alone && algebra_.atom(atoms[0]).same_as(index)) {
        factor = term.coefficient;
        continue;
      }
      const bool uses = std::any_of(atoms.begin(), atoms.end(),
                                    [&](AtomId number) { return ir::uses_var(algebra_.atom(number), index); });
      if (uses) {
        // At most one division that contains the index can be inverted.
        if (!alone || term.coefficient != 1 || wrapped.defined()) return std::nullopt;
        wrapped = algebra_.atom(atoms[0]);
      } else {
        rest.terms.push_back(term);
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
    if (division == nullptr || division->op != ir::BinaryOp::div || !is_fixed(division->right)) return std::nullopt;
    const Polynomial by = algebra_.of(division->right);
    if (by == Polynomial() || !algebra_.proves_non_negative(by)) return std::nullopt;
    // low <= x / by <= high is equivalent to by * low <= x <= by * high + by - 1. For by = 0 no x remains.
    low = algebra_.multiply(low, by);
    high = algebra_.add(algebra_.multiply(high, by), algebra_.subtract(by, Algebra::number(1)));
    value = algebra_.of(division->left);
  }
}

}  // namespace ferry::lang
