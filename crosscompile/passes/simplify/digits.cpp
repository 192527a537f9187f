// Recognises a number in the sum of its digits, which is how a fused loop indexes a dense tensor: i / 784 * 784 +
// i % 784 / 28 * 28 + i % 28 is i, however the axes were fused and the digits simplified since.
#include "crosscompile/passes/simplify/rules.h"

#include <algorithm>
#include <numeric>

namespace ferry::passes::simplifier {

namespace {

// Bounds the work on an expression that nests digits of digits.
constexpr int kNestedDigits = 6;

bool is_digit(const Atom& atom) {
  return (atom.kind == AtomKind::quotient || atom.kind == AtomKind::remainder) && atom.right.is_constant() &&
         atom.right.constant > 0;
}

}  // namespace

// Returns the quotient by a positive number, in the form that all equal quotients share: without the multiples of the
// number, without a common factor, without a part that the quotient does not depend on, and with (x / d + k) / c as
// (x + k * d) / (d * c). The polynomial must be exact.
Polynomial ExprSimplifier::quotient_by_number(const Polynomial& left, std::int64_t divisor) {
  const Division division = divide_by_number(left, divisor);
  if (!division.quotient.valid || !division.rest.valid || !facts.is_exact(division.rest)) return invalid();
  if (const Interval rest = facts.range(division.rest); rest.finite()) {
    const Int128 bucket = floor_div(rest.lo, Int128{divisor});
    if (bucket == floor_div(rest.hi, Int128{divisor}) && Interval::point(bucket).fits_64_bits())
      return add(division.quotient, constant_polynomial(static_cast<std::int64_t>(bucket)));
  }
  // (g * r + k) / (g * d) equals (r + k / g) / d.
  Polynomial rest = division.rest;
  const std::int64_t common = std::gcd(divisor, content(rest));
  if (common > 1) {
    for (Term& term : rest.terms) term.coefficient /= common;
    rest.constant = static_cast<std::int64_t>(floor_div(Int128{rest.constant}, Int128{common}));
    divisor /= common;
  }
  if (const auto parts = coarse_part(rest, divisor)) {
    rest = parts->quotient;
    divisor /= parts->step;
  }
  if (divisor == 1) return add(division.quotient, rest);
  const bool is_one_atom = rest.terms.size() == 1 && rest.terms[0].coefficient == 1 && rest.terms[0].product.is_atom();
  if (is_one_atom) {
    const Atom& inner = facts.atoms[rest.terms[0].product.factors[0]];
    std::int64_t together = 0, shift = 0;
    if (inner.kind == AtomKind::quotient && is_digit(inner) && facts.is_exact(inner.left) &&
        !__builtin_mul_overflow(inner.right.constant, divisor, &together) &&
        !__builtin_mul_overflow(inner.right.constant, rest.constant, &shift)) {
      const Polynomial whole = add(inner.left, constant_polynomial(shift));
      if (shift == 0 || facts.is_exact(whole)) return add(division.quotient, quotient_by_number(whole, together));
    }
  }
  const AtomId atom = facts.atoms.combined(AtomKind::quotient, rest, constant_polynomial(divisor));
  if (atom == 0) return invalid();
  const Interval range = facts.range(atom);
  const bool is_number = range.is_point() && range.fits_64_bits();
  return add(division.quotient,
             is_number ? constant_polynomial(static_cast<std::int64_t>(range.lo)) : atom_polynomial(atom));
}

// Writes x % c as x - c * (x / c), so that a sum of digits has only quotients, of which all but one cancel.
Polynomial ExprSimplifier::digit_in_quotients(AtomId id, int depth) {
  const Atom atom = facts.atoms[id];  // a copy: atoms are added meanwhile
  if (depth == 0 || !is_digit(atom) || !facts.is_exact(atom.left)) return atom_polynomial(id);
  const Polynomial whole = in_quotients(atom.left, depth - 1);
  if (!whole.valid) return atom_polynomial(id);
  const Polynomial quotient = quotient_by_number(whole, atom.right.constant);
  const Polynomial result =
      atom.kind == AtomKind::quotient ? quotient : add(whole, scale(quotient, atom.right.constant), -1);
  return result.valid ? result : atom_polynomial(id);
}

Polynomial ExprSimplifier::in_quotients(const Polynomial& polynomial, int depth) {
  Polynomial result = constant_polynomial(polynomial.constant);
  for (const Term& term : polynomial.terms) {
    Polynomial product = constant_polynomial(term.coefficient);
    for (std::size_t i = 0; i < term.product.degree; ++i)
      product = multiply(product, digit_in_quotients(term.product.factors[i], depth));
    result = add(result, product);
  }
  return result;
}

Polynomial ExprSimplifier::without_digits(const Polynomial& polynomial) {
  const auto has_digit = [&](const Term& term) {
    const auto* first = term.product.factors.begin();
    return std::any_of(first, first + term.product.degree, [&](AtomId id) { return is_digit(facts.atoms[id]); });
  };
  // One digit alone is no sum.
  if (!polynomial.valid || std::count_if(polynomial.terms.begin(), polynomial.terms.end(), has_digit) < 2)
    return invalid();
  return in_quotients(polynomial, kNestedDigits);
}

}  // namespace ferry::passes::simplifier
