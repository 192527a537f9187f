#include "crosscompile/analysis/polynomial.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ferry::analysis {
namespace {

bool multiply(const Product& a, const Product& b, Product& result) {
  if (a.degree + b.degree > kMaxDegree) return false;
  result = {};
  result.degree = static_cast<std::uint8_t>(a.degree + b.degree);
  std::merge(a.factors.begin(), a.factors.begin() + a.degree, b.factors.begin(), b.factors.begin() + b.degree,
             result.factors.begin());
  return true;
}

// The smallest number has no negation, so it is not allowed as a coefficient.
bool times(std::int64_t a, std::int64_t b, std::int64_t& result) {
  return !__builtin_mul_overflow(a, b, &result) && result != std::numeric_limits<std::int64_t>::min();
}
bool plus(std::int64_t a, std::int64_t b, std::int64_t& result) {
  return !__builtin_add_overflow(a, b, &result) && result != std::numeric_limits<std::int64_t>::min();
}

}  // namespace

bool Product::operator<(const Product& other) const {
  const std::size_t shared = std::min(degree, other.degree);
  for (std::size_t i = 0; i < shared; ++i) {
    if (factors[i] != other.factors[i]) return factors[i] < other.factors[i];
  }
  return degree < other.degree;
}

bool Product::contains(AtomId atom) const {
  return std::find(factors.begin(), factors.begin() + degree, atom) != factors.begin() + degree;
}

std::size_t Polynomial::hash() const {
  std::size_t h = static_cast<std::size_t>(constant);
  for (const Term& term : terms) {
    h = h * 0x9e3779b97f4a7c15 + static_cast<std::size_t>(term.coefficient);
    for (std::size_t i = 0; i < term.product.degree; ++i) h = h * 31 + term.product.factors[i];
  }
  return h;
}

Polynomial invalid() {
  Polynomial result;
  result.valid = false;
  return result;
}

Polynomial constant_polynomial(std::int64_t value) {
  Polynomial result;
  result.constant = value;
  return result;
}

Polynomial atom_polynomial(AtomId atom) {
  Polynomial result;
  result.terms.emplace_back();
  result.terms[0].coefficient = 1;
  result.terms[0].product.degree = 1;
  result.terms[0].product.factors[0] = atom;
  return result;
}

Polynomial add(const Polynomial& a, const Polynomial& b, std::int64_t factor) {
  if (!a.valid || !b.valid) return invalid();
  Polynomial result;
  result.terms.reserve(a.terms.size() + b.terms.size());
  std::int64_t moved = 0;
  if (__builtin_mul_overflow(b.constant, factor, &moved) ||
      __builtin_add_overflow(a.constant, moved, &result.constant)) {
    return invalid();
  }
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->product < y->product)) {
      result.terms.push_back(*x++);
      continue;
    }
    Term term = *y;
    if (!times(y->coefficient, factor, term.coefficient)) return invalid();
    if (x != a.terms.end() && x->product == y->product) {
      if (!plus(x->coefficient, term.coefficient, term.coefficient)) return invalid();
      ++x;
    }
    ++y;
    if (term.coefficient != 0) result.terms.push_back(term);
  }
  return result.terms.size() > kMaxTerms ? invalid() : result;
}

Polynomial scale(const Polynomial& a, std::int64_t factor) {
  if (!a.valid) return a;
  if (factor == 0) return constant_polynomial(0);
  Polynomial result = a;
  if (__builtin_mul_overflow(a.constant, factor, &result.constant)) return invalid();
  for (Term& term : result.terms) {
    if (!times(term.coefficient, factor, term.coefficient)) return invalid();
  }
  return result;
}

Polynomial multiply(const Polynomial& a, const Polynomial& b) {
  if (!a.valid || !b.valid) return invalid();
  if (a.terms.empty()) return scale(b, a.constant);
  if (b.terms.empty()) return scale(a, b.constant);
  if (a.terms.size() * b.terms.size() > kMaxTerms) return invalid();
  std::vector<Term> products;
  products.reserve(a.terms.size() * b.terms.size());
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      Term term;
      if (!multiply(x.product, y.product, term.product) || !times(x.coefficient, y.coefficient, term.coefficient)) {
        return invalid();
      }
      products.push_back(term);
    }
  }
  Polynomial result = from_terms(std::move(products), 0);
  // Adds the products with the constants.
  Polynomial linear_a = a;
  linear_a.constant = 0;
  return add(add(result, linear_a, b.constant), b, a.constant);
}

Polynomial from_terms(std::vector<Term> terms, std::int64_t constant) {
  std::sort(terms.begin(), terms.end(), [](const Term& x, const Term& y) { return x.product < y.product; });
  Polynomial result;
  result.constant = constant;
  for (const Term& term : terms) {
    if (!result.terms.empty() && result.terms.back().product == term.product) {
      Term& last = result.terms.back();
      if (!plus(last.coefficient, term.coefficient, last.coefficient)) return invalid();
    } else {
      result.terms.push_back(term);
    }
  }
  std::erase_if(result.terms, [](const Term& term) { return term.coefficient == 0; });
  return result;
}

Split split_by(const Polynomial& whole, AtomId atom) {
  Split split;
  if (!whole.valid) return {invalid(), invalid()};
  split.rest.constant = whole.constant;
  Product one;
  one.degree = 1;
  one.factors[0] = atom;
  std::vector<Term> slopes;
  for (const Term& term : whole.terms) {
    Term slope = term;
    if (!divide(term.product, one, slope.product)) {
      split.rest.terms.push_back(term);
    } else if (slope.product.contains(atom)) {
      return {invalid(), invalid()};
    } else if (slope.product.degree == 0) {
      split.slope.constant = slope.coefficient;
    } else {
      slopes.push_back(slope);
    }
  }
  split.slope = from_terms(std::move(slopes), split.slope.constant);
  return split;
}

std::int64_t content(const Polynomial& polynomial) {
  std::int64_t common = 0;
  for (const Term& term : polynomial.terms) common = std::gcd(common, term.coefficient);
  return common;
}

bool divide(const Product& product, const Product& by, Product& quotient) {
  Product result;
  std::size_t matched = 0;
  for (std::size_t i = 0; i < product.degree; ++i) {
    if (matched < by.degree && product.factors[i] == by.factors[matched]) {
      ++matched;
    } else {
      result.factors[result.degree++] = product.factors[i];
    }
  }
  if (matched != by.degree) return false;
  quotient = result;
  return true;
}

}  // namespace ferry::analysis
