// Proves that a polynomial is not negative: variables are replaced, innermost first, by whichever bound minimises the
// polynomial, until its range settles the question; conditions that hold are subtracted.
#include "crosscompile/analysis/facts.h"

#include <algorithm>
#include <numeric>

namespace ferry::analysis {
namespace {

constexpr int kDepth = 12;
// Number of steps per question. Nearly everything provable is proved in a few.
constexpr int kBudget = 60;
constexpr std::size_t kAtomsTried = 3;

}  // namespace

bool Facts::proves_nonnegative(const Polynomial& polynomial) const {
  budget_ = kBudget;
  return prove(polynomial, kDepth);
}

bool Facts::prove(const Polynomial& polynomial, int depth) const {
  if (!polynomial.valid) return false;
  const Interval now = range(polynomial);
  if (now.lo >= 0) return true;
  if (now.hi < 0 || depth == 0 || --budget_ < 0) return false;

  std::vector<AtomId> candidates;
  for (const Term& term : polynomial.terms) {
    for (std::size_t i = 0; i < term.product.degree; ++i) {
      const AtomId atom = term.product.factors[i];
      if (std::find(candidates.begin(), candidates.end(), atom) == candidates.end()) candidates.push_back(atom);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](AtomId a, AtomId b) { return level(a) > level(b); });
  if (candidates.size() > kAtomsTried) candidates.resize(kAtomsTried);
  for (const AtomId atom : candidates) {
    const Split split = split_by(polynomial, atom);
    if (!split.slope.valid || !split.rest.valid) continue;
    const Interval slope = range(split.slope);
    if (slope.lo < 0 && slope.hi > 0) continue;
    if (prove_without(atom, split.slope, split.rest, slope.lo >= 0, depth - 1)) return true;
  }
  return prove_with_inequalities(polynomial, depth - 1);
}

// `rising`: the slope is not negative, so a lower bound of the atom makes the whole smaller; otherwise an upper bound
// does.
bool Facts::prove_without(AtomId id, const Polynomial& slope, const Polynomial& rest, bool rising, int depth) const {
  const auto replaced = [&](const Polynomial& bound) { return prove(add(rest, multiply(slope, bound)), depth); };
  if (id < known_.size()) {
    for (const Polynomial& bound : rising ? known_[id].lower : known_[id].upper) {
      if (replaced(bound)) return true;
    }
  }
  const Atom& atom = atoms[id];
  switch (atom.kind) {
    case AtomKind::minimum:
    case AtomKind::maximum:
    case AtomKind::choice: {
      if (!is_exact(atom.left) || !is_exact(atom.right)) break;
      // The atom equals one of the two operands. A minimum is at most, and a maximum at least, each of them, so a proof
      // with either one suffices on that side.
      const bool either = (atom.kind == AtomKind::minimum && !rising) || (atom.kind == AtomKind::maximum && rising);
      if (either ? replaced(atom.left) || replaced(atom.right) : replaced(atom.left) && replaced(atom.right))
        return true;
      break;
    }
    case AtomKind::quotient:
      if (prove_quotient(atom, slope, rest, rising, depth)) return true;
      break;
    case AtomKind::remainder:
      // A remainder is at most the divisor minus one.
      if (!rising && is_exact(atom.right) && range(atom.right).lo >= 1 &&
          replaced(add(atom.right, constant_polynomial(-1)))) {
        return true;
      }
      break;
    case AtomKind::variable:
    case AtomKind::lane:
    case AtomKind::opaque: break;
  }
  // Uses the numeric bound where the slope is symbolic: interval arithmetic on the product would lose the correlation
  // of its factors.
  const Interval numbers = range(id);
  const Int128 bound = rising ? numbers.lo : numbers.hi;
  if (slope.is_constant() || !Interval::point(bound).fits_64_bits()) return false;
  return replaced(constant_polynomial(static_cast<std::int64_t>(bound)));
}

// divisor * quotient lies in [dividend - divisor + 1, dividend] when the divisor is positive. Since the quotient is an
// integer, it is at most r exactly when the dividend is less than (r + 1) * divisor, and at least r exactly when the
// dividend is not less than r * divisor.
bool Facts::prove_quotient(const Atom& atom, const Polynomial& slope, const Polynomial& rest, bool rising,
                           int depth) const {
  const Polynomial& divisor = atom.right;
  if (!is_exact(atom.left) || !is_exact(divisor) || range(divisor).lo < 1) return false;
  const Polynomial bound = rising ? add(add(atom.left, divisor, -1), constant_polynomial(1)) : atom.left;
  if (divisor.is_atom()) {
    const Split by_divisor = split_by(slope, divisor.terms[0].product.factors[0]);
    const bool divides = by_divisor.slope.valid && by_divisor.rest.is_constant() && by_divisor.rest.constant == 0;
    if (divides && prove(add(rest, multiply(by_divisor.slope, bound)), depth)) return true;
  }
  if (slope.is_constant() && slope.constant == 1) return prove(add(atom.left, multiply(rest, divisor)), depth);
  if (slope.is_constant() && slope.constant == -1) {
    const Polynomial beyond = multiply(add(rest, constant_polynomial(1)), divisor);
    return prove(add(add(beyond, atom.left, -1), constant_polynomial(-1)), depth);
  }
  // Multiplies the whole by the divisor, which does not change its sign.
  return prove(add(multiply(rest, divisor), multiply(slope, bound)), depth);
}

bool Facts::prove_with_inequalities(const Polynomial& polynomial, int depth) const {
  for (auto known = inequalities_.rbegin(); known != inequalities_.rend() && budget_ > 0; ++known) {
    for (const Term& term : polynomial.terms) {
      const auto shared = std::find_if(known->terms.begin(), known->terms.end(),
                                       [&](const Term& other) { return other.product == term.product; });
      if (shared == known->terms.end() || (shared->coefficient < 0) != (term.coefficient < 0)) continue;
      // Subtracts a positive multiple of the known inequality from a positive multiple of the polynomial, so that the
      // shared term cancels.
      const std::int64_t common = std::gcd(shared->coefficient, term.coefficient);
      if (common <= 0) continue;
      const std::int64_t ours = std::abs(shared->coefficient / common);
      const std::int64_t theirs = std::abs(term.coefficient / common);
      if (prove(add(scale(polynomial, ours), scale(*known, theirs), -1), depth)) return true;
      break;
    }
  }
  return false;
}

}  // namespace ferry::analysis
