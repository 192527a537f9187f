// Arithmetic on indices and sizes.
#include "crosscompile/passes/simplify_rules.h"

#include "crosscompile/ir/substitute.h"

#include <limits>
#include <numeric>

namespace ferry::passes::simplifier {

using namespace ir;

namespace {

bool is_sum_or_product(const Expr& expr) {
  if (const auto* binary = expr.as<Binary>()) {
    return binary->op == BinaryOp::add || binary->op == BinaryOp::sub || binary->op == BinaryOp::mul;
  }
  const auto* unary = expr.as<Unary>();
  return unary != nullptr && unary->op == UnaryOp::neg;
}

}  // namespace

// The parts of a sum are simplified where they stand, then the sum as a whole: that is linear in its size.
Expr ExprSimplifier::linear_parts(const Expr& expr) {
  if (const auto* ramp = expr.as<Ramp>()) {
    const Expr base = linear_parts(ramp->base);
    const Expr stride = linear_parts(ramp->stride);
    return base.same_as(ramp->base) && stride.same_as(ramp->stride) ? expr : Ramp::make(base, stride, ramp->type.lanes);
  }
  if (const auto* broadcast = expr.as<Broadcast>()) {
    const Expr value = linear_parts(broadcast->value);
    return value.same_as(broadcast->value) ? expr : Broadcast::make(value, broadcast->type.lanes);
  }
  if (!is_sum_or_product(expr)) return mutate(expr);
  if (const auto* unary = expr.as<Unary>()) {
    const Expr value = linear_parts(unary->value);
    return value.same_as(unary->value) ? expr : -value;
  }
  const auto* binary = expr.as<Binary>();
  const Expr left = linear_parts(binary->left);
  const Expr right = linear_parts(binary->right);
  if (left.same_as(binary->left) && right.same_as(binary->right)) return expr;
  switch (binary->op) {
    case BinaryOp::add: return left + right;
    case BinaryOp::sub: return left - right;
    default: return left * right;
  }
}

Expr ExprSimplifier::linear(const Expr& expr) {
  const Expr parts = linear_parts(expr);
  const Polynomial meaning = facts.atoms.polynomial(parts);
  return meaning.valid ? shortest(normalised(meaning), parts) : parts;
}

Expr ExprSimplifier::shortest(const Polynomial& polynomial, const Expr& unchanged) {
  if (!polynomial.valid) return unchanged;
  Expr candidate = facts.atoms.expression(polynomial, unchanged.type().lanes);
  const std::size_t before = node_count(unchanged);
  const std::size_t after = node_count(candidate);
  if (after < before) return candidate;
  // One ramp says more to those who look for neighbouring elements than a sum that holds one.
  const bool clearer = candidate.kind() == NodeKind::Ramp && unchanged.kind() != NodeKind::Ramp;
  return after == before && clearer ? candidate : unchanged;
}

Polynomial ExprSimplifier::normalised(Polynomial polynomial) {
  while (polynomial.valid && recombine(polynomial)) {
  }
  return polynomial;
}

// One step: atoms with a single value become numbers, c * (a / c) + a % c becomes a.
bool ExprSimplifier::recombine(Polynomial& polynomial) {
  for (const Term& term : polynomial.terms) {
    for (std::size_t i = 0; i < term.product.degree; ++i) {
      const AtomId id = term.product.factors[i];
      const Interval range = facts.range(id);
      if (range.is_point() && range.fits_64_bits()) {
        const Split split = split_by(polynomial, id);
        if (!split.slope.valid) continue;
        polynomial = add(split.rest, split.slope, static_cast<std::int64_t>(range.lo));
        return true;
      }
      const Atom& atom = facts.atoms[id];
      if (atom.kind == AtomKind::remainder) {
        const AtomId partner = facts.atoms.find(AtomKind::quotient, atom.left, atom.right);
        if (partner == 0) continue;
        if (!facts.is_exact(atom.left) || !facts.is_exact(atom.right)) continue;
        if (const Interval divisor = facts.range(atom.right); divisor.lo <= 0 && divisor.hi >= 0) continue;
        Product others;
        Product remainder;
        remainder.degree = 1;
        remainder.factors[0] = id;
        if (!divide(term.product, remainder, others)) continue;
        // k * others * (a % c) and k * others * c * (a / c) are k * others * a.
        const Polynomial factor = from_terms({{term.coefficient, others}}, 0);
        const Polynomial ours = others.degree == 0 ? constant_polynomial(term.coefficient) : factor;
        const Polynomial theirs = multiply(multiply(ours, atom.right), atom_polynomial(partner));
        const Polynomial without = add(add(polynomial, theirs, -1), multiply(ours, atom_polynomial(id)), -1);
        const Polynomial whole = add(without, multiply(ours, atom.left));
        // Only when both were there to be taken.
        if (without.valid && whole.valid && without.terms.size() + 2 <= polynomial.terms.size()) {
          polynomial = whole;
          return true;
        }
      }
      if (atom.kind == AtomKind::quotient && term.product.is_atom() && atom.right.is_constant() &&
          atom.right.constant > 0 && term.coefficient % atom.right.constant == 0 && facts.is_exact(atom.left)) {
        const AtomId rest = facts.atoms.find(AtomKind::remainder, atom.left, atom.right);
        if (rest == 0 || !(facts.range(rest).is_point() && facts.range(rest).lo == 0)) continue;
        const Split split = split_by(polynomial, id);
        polynomial = add(split.rest, atom.left, term.coefficient / atom.right.constant);
        return true;
      }
    }
  }
  return false;
}

ExprSimplifier::Division ExprSimplifier::divide_by_number(const Polynomial& left, std::int64_t divisor) {
  Division result;
  std::vector<Term> divisible, rest;
  Polynomial known;  // multiples of the divisor that only the facts know to be
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

// The divisor is a product of atoms, such as W or H * W.
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
    const Division division = divide_by_number(a, c.constant);
    if (!division.quotient.valid || !division.rest.valid || !facts.is_exact(division.rest)) return unchanged;
    const Interval rest = facts.range(division.rest);
    if (rest.finite()) {
      const Int128 bucket = floor_div(rest.lo, Int128{c.constant});
      if (bucket == floor_div(rest.hi, Int128{c.constant}) && Interval::point(bucket).fits_64_bits()) {
        return shortest(add(division.quotient, constant_polynomial(static_cast<std::int64_t>(bucket))), unchanged);
      }
    }
    // (g * r + k) / (g * d) is (r + k / g) / d.
    Polynomial rest_poly = division.rest;
    std::int64_t divisor = c.constant;
    std::int64_t common = divisor;
    for (const Term& term : rest_poly.terms) common = std::gcd(common, term.coefficient);
    if (common > 1) {
      for (Term& term : rest_poly.terms) term.coefficient /= common;
      rest_poly.constant = static_cast<std::int64_t>(floor_div(Int128{rest_poly.constant}, Int128{common}));
      divisor /= common;
    }
    // (x / d) / c is x / (d * c).
    if (rest_poly.is_atom()) {
      const Atom& inner = facts.atoms[rest_poly.terms[0].product.factors[0]];
      std::int64_t together = 0;
      if (inner.kind == AtomKind::quotient && inner.right.is_constant() && inner.right.constant > 0 &&
          !__builtin_mul_overflow(inner.right.constant, divisor, &together)) {
        rest_poly = Polynomial(inner.left);
        divisor = together;
      }
    }
    if (divisor == 1) return shortest(add(division.quotient, rest_poly), unchanged);
    const AtomId atom = facts.atoms.combined(AtomKind::quotient, rest_poly, constant_polynomial(divisor));
    return atom == 0 ? unchanged : shortest(add(division.quotient, atom_polynomial(atom)), unchanged);
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
    // A known remainder is the value of its atom.
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
        return shortest(add(rest, constant_polynomial(static_cast<std::int64_t>(-bucket * c.constant))), unchanged);
      }
    }
    // (x % (d * c)) % c is x % c.
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

Expr ExprSimplifier::extremum(BinaryOp op, const Expr& left, const Expr& right, const Expr& unchanged) {
  if (as_int(left) != nullptr && as_int(right) != nullptr)
    return op == BinaryOp::min ? min(left, right) : max(left, right);
  const Polynomial& a = facts.atoms.polynomial(left);
  const Polynomial& b = facts.atoms.polynomial(right);
  if (a.valid && a == b) return left;
  const Expr& smaller = op == BinaryOp::min ? left : right;
  const Expr& larger = op == BinaryOp::min ? right : left;
  if (proves(BinaryOp::le, a, b)) return smaller;
  if (proves(BinaryOp::le, b, a)) return larger;
  // min(min(x, 3), 5)
  if (const auto* inner = left.as<Binary>();
      inner != nullptr && inner->op == op && as_int(right) != nullptr && as_int(inner->right) != nullptr) {
    return Binary::make(op, inner->left, op == BinaryOp::min ? min(inner->right, right) : max(inner->right, right));
  }
  return unchanged;
}

bool ExprSimplifier::proves(BinaryOp op, const Polynomial& left, const Polynomial& right) {
  if (op == BinaryOp::gt || op == BinaryOp::ge)
    return proves(op == BinaryOp::gt ? BinaryOp::lt : BinaryOp::le, right, left);
  const Polynomial difference = add(right, left, -1);
  if (!difference.valid) return false;
  // Equal modulo 2^64 is equal.
  if (difference.is_constant() && difference.constant == 0 && op == BinaryOp::eq) return true;
  if (!facts.is_exact(left) || !facts.is_exact(right)) return false;
  const auto at_least = [&](const Polynomial& polynomial, std::int64_t least) {
    return facts.proves_nonnegative(normalised(add(polynomial, constant_polynomial(-least))));
  };
  if (op == BinaryOp::lt) return at_least(difference, 1);
  if (op == BinaryOp::le) return at_least(difference, 0);
  const Polynomial reverse = scale(difference, -1);
  if (op == BinaryOp::eq) return at_least(difference, 0) && at_least(reverse, 0);
  // 4 * x is never 4 * y + 2.
  std::int64_t common = 0;
  for (const Term& term : difference.terms) common = std::gcd(common, term.coefficient);
  if (common > 1 && difference.constant % common != 0) return true;
  return at_least(difference, 1) || at_least(reverse, 1);
}

std::optional<bool> ExprSimplifier::decide(BinaryOp op, const Polynomial& left, const Polynomial& right) {
  if (proves(op, left, right)) return true;
  if (proves(opposite(op), left, right)) return false;
  return std::nullopt;
}

// Of margin >= 0: where x <= a holds anyway, x <= min(a, b) says no more than x <= b.
void ExprSimplifier::drop_idle_bounds(Polynomial& margin) {
  for (std::size_t i = 0; i < margin.terms.size(); ++i) {
    const Term term = margin.terms[i];
    if (!term.product.is_atom() || (term.coefficient != 1 && term.coefficient != -1)) continue;
    const Atom atom = facts.atoms[term.product.factors[0]];
    if (atom.kind != (term.coefficient > 0 ? AtomKind::minimum : AtomKind::maximum)) continue;
    if (!facts.is_exact(atom.left) || !facts.is_exact(atom.right)) continue;
    const Polynomial rest = add(margin, from_terms({term}, 0), -1);
    const Polynomial left = add(rest, atom.left, term.coefficient), right = add(rest, atom.right, term.coefficient);
    if (!left.valid || !right.valid) continue;
    const bool left_holds = proves(BinaryOp::ge, left, constant_polynomial(0));
    if (!left_holds && !proves(BinaryOp::ge, right, constant_polynomial(0))) continue;
    margin = left_holds ? right : left;
    i = static_cast<std::size_t>(-1);  // from the start again
  }
}

Expr ExprSimplifier::index_comparison(BinaryOp op, const Expr& left, const Expr& right, const Expr& unchanged) {
  const Type type = unchanged.type();
  const Polynomial a = facts.atoms.polynomial(left);
  const Polynomial b = facts.atoms.polynomial(right);
  if (!a.valid || !b.valid) return unchanged;
  if (const std::optional<bool> truth = decide(op, a, b)) return constant(type, std::int64_t{*truth});
  if (!facts.is_exact(a) || !facts.is_exact(b)) return unchanged;
  // Common parts and common factors cancel: as margin >= 0, or margin == 0.
  const bool ordered = op != BinaryOp::eq && op != BinaryOp::ne;
  const bool upward = op == BinaryOp::lt || op == BinaryOp::le;
  const bool strict = op == BinaryOp::lt || op == BinaryOp::gt;
  Polynomial margin = upward || !ordered ? add(b, a, -1) : add(a, b, -1);
  if (strict) margin = add(margin, constant_polynomial(-1));
  if (!margin.valid || margin.terms.empty()) return unchanged;
  if (ordered) drop_idle_bounds(margin);
  std::int64_t common = 0;
  for (const Term& term : margin.terms) common = std::gcd(common, term.coefficient);
  if (common < 1 || (!ordered && margin.constant % common != 0)) return unchanged;
  for (Term& term : margin.terms) term.coefficient /= common;
  margin.constant = static_cast<std::int64_t>(floor_div(Int128{margin.constant}, Int128{common}));
  // low <= high, or low < high when that spares a constant.
  Polynomial low, high;
  for (const Term& term : margin.terms) {
    if (term.coefficient == std::numeric_limits<std::int64_t>::min()) return unchanged;
    if (term.coefficient > 0) {
      high.terms.push_back(term);
    } else {
      low.terms.push_back({-term.coefficient, term.product});
    }
  }
  BinaryOp result = ordered ? BinaryOp::le : op;
  if (ordered && (margin.constant == -1 || high.terms.empty() || (low.terms.empty() && margin.constant < 0))) {
    // x <= 7 reads better as x < 8, and -8 <= -x... as 7 < x.
    result = BinaryOp::lt;
    if (__builtin_add_overflow(margin.constant, 1, &margin.constant)) return unchanged;
  }
  if (margin.constant >= 0) {
    high.constant = margin.constant;
  } else if (__builtin_sub_overflow(std::int64_t{0}, margin.constant, &low.constant)) {
    return unchanged;
  }
  if (!facts.is_exact(low) || !facts.is_exact(high)) return unchanged;
  const std::uint32_t lanes = left.type().lanes;
  Expr first = facts.atoms.expression(low, lanes);
  Expr second = facts.atoms.expression(high, lanes);
  const bool flipped = ordered && !upward;
  if (flipped) std::swap(first, second);
  if (flipped) result = result == BinaryOp::lt ? BinaryOp::gt : BinaryOp::ge;
  if (!ordered && low.terms.empty() && !high.terms.empty()) std::swap(first, second);
  const Expr candidate = Binary::make(result, first, second);
  return node_count(candidate) < node_count(unchanged) ? candidate : unchanged;
}

}  // namespace ferry::passes::simplifier
