// Simplifies arithmetic on indices and sizes.
#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/passes/simplify/rules.h"

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

// Simplifies the parts of a sum in place, and then the sum as a whole, which is linear in its size.
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
  const Polynomial polynomial = facts.atoms.polynomial(parts);
  if (!polynomial.valid) return parts;
  const Polynomial whole = normalised(polynomial);
  return shortest(without_digits(whole), shortest(whole, parts));
}

Expr ExprSimplifier::shortest(const Polynomial& polynomial, const Expr& unchanged) {
  if (!polynomial.valid) return unchanged;
  Expr candidate = facts.atoms.expression(polynomial, unchanged.type().lanes);
  const std::size_t before = count_nodes(unchanged);
  const std::size_t after = count_nodes(candidate);
  if (after < before) return candidate;
  // A single ramp shows consecutive elements more clearly than a sum that contains one.
  const bool clearer = candidate.kind() == ExprKind::Ramp && unchanged.kind() != ExprKind::Ramp;
  return after == before && clearer ? candidate : unchanged;
}

Polynomial ExprSimplifier::normalised(Polynomial polynomial) {
  while (polynomial.valid && recombine(polynomial)) {
  }
  return polynomial;
}

// Returns the atom of the quotient that belongs to a remainder; 0 when there is none. Of (x / d) % c it is (x / d) / c,
// which quotient() has made x / (d * c), or (x / s) / (d * c / s).
AtomId ExprSimplifier::quotient_beside(const Atom& remainder) {
  if (const AtomId plain = facts.atoms.find(AtomKind::quotient, remainder.left, remainder.right); plain != 0)
    return plain;
  if (!remainder.right.is_constant() || remainder.right.constant <= 0) return 0;
  Polynomial whole = remainder.left;
  std::int64_t divisor = remainder.right.constant;
  while (whole.is_atom()) {
    const Atom& inner = facts.atoms[whole.terms[0].product.factors[0]];
    if (inner.kind != AtomKind::quotient || !inner.right.is_constant() || inner.right.constant <= 0) break;
    if (__builtin_mul_overflow(divisor, inner.right.constant, &divisor)) return 0;
    whole = Polynomial(inner.left);
  }
  if (const AtomId joined = facts.atoms.find(AtomKind::quotient, whole, constant_polynomial(divisor)); joined != 0)
    return joined;
  if (!facts.is_exact(whole)) return 0;
  const auto parts = coarse_part(whole, divisor);
  return parts ? facts.atoms.find(AtomKind::quotient, parts->quotient, constant_polynomial(divisor / parts->step)) : 0;
}

// Performs one step: atoms with a single value become numbers, c * (a / c) + a % c becomes a.
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
        const AtomId partner = quotient_beside(atom);
        if (partner == 0) continue;
        if (!facts.is_exact(atom.left) || !facts.is_exact(atom.right)) continue;
        if (const Interval divisor = facts.range(atom.right); divisor.lo <= 0 && divisor.hi >= 0) continue;
        Product others;
        Product remainder;
        remainder.degree = 1;
        remainder.factors[0] = id;
        if (!divide(term.product, remainder, others)) continue;
        // The sum of k * others * (a % c) and k * others * c * (a / c) is k * others * a.
        const Polynomial factor = from_terms({{term.coefficient, others}}, 0);
        const Polynomial ours = others.degree == 0 ? constant_polynomial(term.coefficient) : factor;
        const Polynomial theirs = multiply(multiply(ours, atom.right), atom_polynomial(partner));
        const Polynomial without = add(add(polynomial, theirs, -1), multiply(ours, atom_polynomial(id)), -1);
        const Polynomial whole = add(without, multiply(ours, atom.left));
        // Accepts the result only if both terms were present.
        if (without.valid && whole.valid && without.terms.size() + 2 <= polynomial.terms.size()) {
          polynomial = whole;
          return true;
        }
      }
      if (atom.kind == AtomKind::quotient && term.product.is_atom() && atom.right.is_constant() &&
          atom.right.constant > 0 && term.coefficient % atom.right.constant == 0 && facts.is_exact(atom.left)) {
        const AtomId rest = facts.atoms.find(AtomKind::remainder, atom.left, atom.right);
        if (rest == 0 || !(facts.range(rest).is_point() && facts.range(rest).lo == 0)) continue;
        // Other products may contain the same quotient; they stay.
        const Polynomial without = add(polynomial, from_terms({term}, 0), -1);
        const Polynomial whole = add(without, atom.left, term.coefficient / atom.right.constant);
        if (!whole.valid) continue;
        polynomial = whole;
        return true;
      }
    }
  }
  return false;
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
  // Folds min(min(x, 3), 5).
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
  // Equality modulo 2^64 suffices for eq.
  if (difference.is_constant() && difference.constant == 0 && op == BinaryOp::eq) return true;
  if (!facts.is_exact(left) || !facts.is_exact(right)) return false;
  const auto at_least = [&](const Polynomial& polynomial, std::int64_t least) {
    return facts.proves_nonnegative(normalised(add(polynomial, constant_polynomial(-least))));
  };
  if (op == BinaryOp::lt) return at_least(difference, 1);
  if (op == BinaryOp::le) return at_least(difference, 0);
  const Polynomial reverse = scale(difference, -1);
  if (op == BinaryOp::eq) return at_least(difference, 0) && at_least(reverse, 0);
  // 4 * x never equals 4 * y + 2.
  const std::int64_t common = content(difference);
  if (common > 1 && difference.constant % common != 0) return true;
  return at_least(difference, 1) || at_least(reverse, 1);
}

std::optional<bool> ExprSimplifier::decide(BinaryOp op, const Polynomial& left, const Polynomial& right) {
  if (proves(op, left, right)) return true;
  if (proves(opposite(op), left, right)) return false;
  return std::nullopt;
}

// Simplifies margin >= 0: where x <= a holds anyway, x <= min(a, b) is equivalent to x <= b.
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
    i = static_cast<std::size_t>(-1);  // restart
  }
}

Expr ExprSimplifier::index_comparison(BinaryOp op, const Expr& left, const Expr& right, const Expr& unchanged) {
  const Type type = unchanged.type();
  const Polynomial a = facts.atoms.polynomial(left);
  const Polynomial b = facts.atoms.polynomial(right);
  if (!a.valid || !b.valid) return unchanged;
  if (const std::optional<bool> truth = decide(op, a, b)) return constant(type, std::int64_t{*truth});
  if (!facts.is_exact(a) || !facts.is_exact(b)) return unchanged;
  // Common terms and common factors cancel in the form margin >= 0, or margin == 0.
  const bool ordered = op != BinaryOp::eq && op != BinaryOp::ne;
  const bool upward = op == BinaryOp::lt || op == BinaryOp::le;
  const bool strict = op == BinaryOp::lt || op == BinaryOp::gt;
  Polynomial margin = upward || !ordered ? add(b, a, -1) : add(a, b, -1);
  if (strict) margin = add(margin, constant_polynomial(-1));
  if (!margin.valid || margin.terms.empty()) return unchanged;
  if (ordered) drop_idle_bounds(margin);
  const std::int64_t common = content(margin);
  if (common < 1 || (!ordered && margin.constant % common != 0)) return unchanged;
  for (Term& term : margin.terms) term.coefficient /= common;
  margin.constant = static_cast<std::int64_t>(floor_div(Int128{margin.constant}, Int128{common}));
  // Writes low <= high, or low < high when that avoids a constant.
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
    // x < 8 is simpler than x <= 7, and 7 < x than -8 <= -x.
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
  return count_nodes(candidate) < count_nodes(unchanged) ? candidate : unchanged;
}

}  // namespace ferry::passes::simplifier
