// Simplifies quotients and remainders of index arithmetic.
#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/passes/simplify/rules.h"

#include <algorithm>
#include <numeric>

namespace ferry::passes::simplifier {

using namespace ir;

ExprSimplifier::Division ExprSimplifier::divide_by_number(const Polynomial& left, std::int64_t divisor) {
  Division result;
  std::vector<Term> divisible, rest;
  Polynomial known;  // multiples of the divisor according to the facts
  for (const Term& term : left.terms) {
    if (term.coefficient % divisor == 0) {
      divisible.push_back({term.coefficient / divisor, term.product});
      continue;
    }
    if (term.product.is_atom()) {
      const Polynomial atom = atom_polynomial(term.product.factors[0]);
      const Polynomial by = constant_polynomial(divisor);
      const AtomId left_over = facts.atoms.find(AtomKind::remainder, atom, by);
      if (left_over != 0 && facts.range(left_over).is_point() && facts.range(left_over).lo == 0) {
        if (const AtomId whole = facts.atoms.combined(AtomKind::quotient, atom, by); whole != 0) {
          known = add(known, atom_polynomial(whole), term.coefficient);
          continue;
        }
      }
    }
    rest.push_back(term);
  }
  const auto floored = static_cast<std::int64_t>(floor_div(Int128{left.constant}, Int128{divisor}));
  result.quotient = add(from_terms(std::move(divisible), floored), known);
  const auto left_over = static_cast<std::int64_t>(Int128{left.constant} - Int128{floored} * divisor);
  result.rest = from_terms(std::move(rest), left_over);
  return result;
}

// Divides by a product of atoms, such as W or H * W.
ExprSimplifier::Division ExprSimplifier::divide_by_symbol(const Polynomial& left, const Polynomial& divisor) {
  Division result;
  result.rest = left;
  if (divisor.terms.size() != 1 || divisor.constant != 0 || divisor.terms[0].coefficient != 1) return result;
  std::vector<Term> divisible, rest;
  std::int64_t constant = 0;
  for (const Term& term : left.terms) {
    Term quotient = term;
    if (!divide(term.product, divisor.terms[0].product, quotient.product)) {
      rest.push_back(term);
    } else if (quotient.product.degree == 0) {
      constant = quotient.coefficient;
    } else {
      divisible.push_back(quotient);
    }
  }
  result.quotient = from_terms(std::move(divisible), constant);
  result.rest = from_terms(std::move(rest), left.constant);
  return result;
}

// Decomposes the polynomial as s * x + r with 0 <= r < s, where s divides the divisor: the quotient does not depend on
// r.
std::optional<ExprSimplifier::Coarse> ExprSimplifier::coarse_part(const Polynomial& polynomial, std::int64_t divisor) {
  std::int64_t step = 0;
  Coarse best;
  for (const Term& of : polynomial.terms) {
    const std::int64_t candidate = std::gcd(of.coefficient, divisor);
    if (candidate <= std::max<std::int64_t>(step, 1) || candidate == divisor) continue;
    const Division division = divide_by_number(polynomial, candidate);
    if (!division.quotient.valid || !division.rest.valid || division.quotient.terms.empty() ||
        !facts.is_exact(division.rest) || !facts.is_exact(division.quotient))
      continue;
    const Interval rest = facts.range(division.rest);
    if (!rest.finite() || rest.lo < 0 || rest.hi >= candidate) continue;
    step = candidate;
    best = {division.quotient, division.rest, candidate};
  }
  return step == 0 ? std::nullopt : std::optional(best);
}

Expr ExprSimplifier::quotient(const Expr& left, const Expr& right, const Expr& unchanged) {
  if (as_int(left) != nullptr && as_int(right) != nullptr) return left / right;
  const std::uint32_t lanes = unchanged.type().lanes;
  const Polynomial a = normalised(facts.atoms.polynomial(left));
  const Polynomial c = normalised(facts.atoms.polynomial(right));
  if (!a.valid || !c.valid) return unchanged;
  if (a.is_constant() && a.constant == 0) return constant(Type(DType::i64, lanes), std::int64_t{0});
  if (c.is_constant()) {
    if (c.constant == 0) return constant(Type(DType::i64, lanes), std::int64_t{0});
    if (c.constant == 1) return left;
    if (c.constant < 0 || !facts.is_exact(a)) return unchanged;
    return shortest(quotient_by_number(a, c.constant), unchanged);
  }
  if (!facts.is_exact(a) || !facts.is_exact(c)) return unchanged;
  const Division division = divide_by_symbol(a, c);
  const Polynomial last = add(c, constant_polynomial(-1));
  if (facts.proves_nonnegative(division.rest) && facts.proves_nonnegative(add(last, division.rest, -1))) {
    return shortest(division.quotient, unchanged);
  }
  return unchanged;
}

Expr ExprSimplifier::remainder(const Expr& left, const Expr& right, const Expr& unchanged) {
  if (as_int(left) != nullptr && as_int(right) != nullptr) return left % right;
  const Type type = unchanged.type();
  Expr zero = constant(type, std::int64_t{0});
  const Polynomial a = normalised(facts.atoms.polynomial(left));
  const Polynomial c = normalised(facts.atoms.polynomial(right));
  if (!a.valid || !c.valid) return unchanged;
  if (a.is_constant() && a.constant == 0) return zero;
  if (c.is_constant()) {
    if (c.constant == 0 || c.constant == 1 || c.constant == -1) return zero;
    // A remainder whose value is known becomes that value.
    if (const AtomId known = facts.atoms.find(AtomKind::remainder, a, c); known != 0) {
      const Interval range = facts.range(known);
      if (range.is_point()) return constant(type, static_cast<std::int64_t>(range.lo));
    }
    if (c.constant < 0 || !facts.is_exact(a)) return unchanged;
    Polynomial rest = divide_by_number(a, c.constant).rest;
    if (!rest.valid || !facts.is_exact(rest)) return unchanged;
    const Interval range = facts.range(rest);
    if (range.finite()) {
      const Int128 bucket = floor_div(range.lo, Int128{c.constant});
      if (bucket == floor_div(range.hi, Int128{c.constant}) && Interval::point(-bucket * c.constant).fits_64_bits()) {
        // A difference is no longer than the remainder, and shows that the index is linear here.
        const Polynomial difference = add(rest, constant_polynomial(static_cast<std::int64_t>(-bucket * c.constant)));
        if (!difference.valid) return unchanged;
        Expr candidate = facts.atoms.expression(difference, type.lanes);
        return count_nodes(candidate) <= count_nodes(unchanged) ? candidate : unchanged;
      }
    }
    if (const auto parts = coarse_part(rest, c.constant)) {
      // The result is the remainder by the step, plus step * ((x / step) % (divisor / step)).
      const std::int64_t wholes = c.constant / parts->step;
      const AtomId atom = facts.atoms.combined(AtomKind::remainder, parts->quotient, constant_polynomial(wholes));
      const Polynomial split = add(parts->rest, atom_polynomial(atom), parts->step);
      if (atom != 0 && split.valid) {
        const Expr candidate = facts.atoms.expression(split, unchanged.type().lanes);
        return count_nodes(candidate) <= count_nodes(unchanged) ? candidate : unchanged;
      }
    }
    // (x % (d * c)) % c equals x % c.
    if (rest.is_atom()) {
      const Atom& inner = facts.atoms[rest.terms[0].product.factors[0]];
      if (inner.kind == AtomKind::remainder && inner.right.is_constant() && inner.right.constant > 0 &&
          inner.right.constant % c.constant == 0) {
        rest = Polynomial(inner.left);
      }
    }
    const AtomId atom = facts.atoms.combined(AtomKind::remainder, rest, c);
    return atom == 0 ? unchanged : shortest(atom_polynomial(atom), unchanged);
  }
  if (!facts.is_exact(a) || !facts.is_exact(c)) return unchanged;
  const Polynomial rest = divide_by_symbol(a, c).rest;
  if (rest.is_constant() && rest.constant == 0) return zero;
  const Polynomial last = add(c, constant_polynomial(-1));
  if (facts.proves_nonnegative(rest) && facts.proves_nonnegative(add(last, rest, -1))) return shortest(rest, unchanged);
  return unchanged;
}

}  // namespace ferry::passes::simplifier
