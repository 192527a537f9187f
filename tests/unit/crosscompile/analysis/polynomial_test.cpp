// Compares operations on polynomials with the values at many points.
#include "crosscompile/analysis/polynomial.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>
#include <random>

using namespace ferry::analysis;

namespace {

constexpr AtomId kAtoms = 3;
using Point = std::array<std::int64_t, kAtoms>;

std::int64_t value_of(const Product& product, const Point& point) {
  std::int64_t value = 1;
  for (std::size_t i = 0; i < product.degree; ++i) value *= point.at(product.factors.at(i) - 1);
  return value;
}

std::int64_t value_of(const Polynomial& polynomial, const Point& point) {
  std::int64_t sum = polynomial.constant;
  for (const Term& term : polynomial.terms) sum += term.coefficient * value_of(term.product, point);
  return sum;
}

template <class Check>
void at_points(Check check) {
  for (std::int64_t x = -2; x <= 2; ++x)
    for (std::int64_t y = -2; y <= 2; ++y)
      for (std::int64_t z = -2; z <= 3; ++z) check(Point{x, y, z});
}

class Random {
 public:
  Polynomial polynomial() {
    std::vector<Term> terms;
    for (std::int64_t count = number(0, 5); count-- > 0;) terms.push_back({number(-6, 6), product(2)});
    return from_terms(std::move(terms), number(-9, 9));
  }
  Product product(std::int64_t most) {
    Product made;
    for (std::int64_t count = number(1, most); count-- > 0;)
      made.factors.at(made.degree++) = static_cast<AtomId>(number(1, kAtoms));
    std::sort(made.factors.begin(), made.factors.begin() + made.degree);
    return made;
  }
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

 private:
  std::mt19937_64 random_{20261122};
};

bool is_normal(const Polynomial& polynomial) {
  for (std::size_t i = 0; i < polynomial.terms.size(); ++i) {
    if (polynomial.terms[i].coefficient == 0) return false;
    if (i > 0 && !(polynomial.terms[i - 1].product < polynomial.terms[i].product)) return false;
  }
  return polynomial.valid;
}

}  // namespace

TEST_CASE("sums, multiples and products of polynomials have the values of sums, multiples and products") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    const Polynomial a = random.polynomial(), b = random.polynomial();
    const std::int64_t factor = random.number(-4, 4);
    const Polynomial sum = add(a, b, factor), multiple = scale(a, factor), product = multiply(a, b);
    CHECK(is_normal(sum));
    CHECK(is_normal(multiple));
    CHECK(is_normal(product));
    bool all = true;
    at_points([&](const Point& at) {
      all = all && value_of(sum, at) == value_of(a, at) + factor * value_of(b, at) &&
            value_of(multiple, at) == factor * value_of(a, at) &&
            value_of(product, at) == value_of(a, at) * value_of(b, at);
    });
    CHECK(all);
    CHECK(add(a, a, -1) == constant_polynomial(0));
    CHECK(multiply(a, b) == multiply(b, a));
    CHECK(multiply(a, b).hash() == multiply(b, a).hash());
  }
}

TEST_CASE("a polynomial split by an atom is slope times the atom plus a rest without it") {
  Random random;
  int squares = 0;
  for (int round = 0; round < 200; ++round) {
    const Polynomial whole = random.polynomial();
    const AtomId atom = static_cast<AtomId>(random.number(1, kAtoms));
    const Split split = split_by(whole, atom);
    if (!split.slope.valid) {
      ++squares;
      const bool has_square = std::any_of(whole.terms.begin(), whole.terms.end(), [&](const Term& term) {
        return std::count(term.product.factors.begin(), term.product.factors.begin() + term.product.degree, atom) > 1;
      });
      CHECK(has_square);
      continue;
    }
    for (const Polynomial* part : {&split.slope, &split.rest})
      for (const Term& term : part->terms) CHECK(!term.product.contains(atom));
    bool all = true;
    at_points([&](const Point& at) {
      all = all && value_of(split.slope, at) * at.at(atom - 1) + value_of(split.rest, at) == value_of(whole, at);
    });
    CHECK(all);
  }
  CHECK(squares > 0);
}

TEST_CASE("the content divides every coefficient, and nothing larger does") {
  Random random;
  for (int round = 0; round < 100; ++round) {
    const Polynomial whole = random.polynomial();
    const std::int64_t common = content(whole);
    std::int64_t expected = 0;
    for (std::int64_t candidate = 1; candidate <= 60; ++candidate) {
      const bool divides = std::all_of(whole.terms.begin(), whole.terms.end(),
                                       [&](const Term& term) { return term.coefficient % candidate == 0; });
      if (divides && !whole.terms.empty()) expected = candidate;
    }
    CHECK(common == expected);
  }
}

TEST_CASE("a product without some of its factors times these factors is the product") {
  Random random;
  int divided = 0;
  for (int round = 0; round < 300; ++round) {
    const Product whole = random.product(4), by = random.product(2);
    Product quotient;
    if (!divide(whole, by, quotient)) continue;
    ++divided;
    bool all = true;
    at_points([&](const Point& at) { all = all && value_of(quotient, at) * value_of(by, at) == value_of(whole, at); });
    CHECK(all);
    CHECK(quotient.degree + by.degree == whole.degree);
  }
  CHECK(divided > 20);
}

TEST_CASE("polynomials beyond the limits are invalid, and so is all that is computed from them") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Polynomial large = scale(atom_polynomial(1), kMost);
  CHECK(large.valid);
  CHECK(!add(large, atom_polynomial(1)).valid);
  CHECK(!scale(large, 2).valid);
  CHECK(!add(constant_polynomial(kMost), constant_polynomial(1)).valid);
  CHECK(!multiply(invalid(), constant_polynomial(0)).valid);
  CHECK(!add(atom_polynomial(1), invalid()).valid);
  Polynomial power = atom_polynomial(1), sum;
  for (std::size_t degree = 1; degree < kMaxDegree; ++degree) power = multiply(power, atom_polynomial(2));
  CHECK(power.valid);
  CHECK(!multiply(power, atom_polynomial(1)).valid);
  for (AtomId atom = 1; atom <= kMaxTerms; ++atom) sum = add(sum, atom_polynomial(atom));
  CHECK(sum.valid);
  CHECK(!add(sum, atom_polynomial(kMaxTerms + 1)).valid);
}
