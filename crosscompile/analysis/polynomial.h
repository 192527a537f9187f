// Sums of products with constant coefficients: the form in which index expressions are compared. The factors are atoms,
// identified by numbers that whoever makes the polynomials assigns (atoms.h for the compiler,
// host/lang/bounds/algebra.h for the language): any expression that is not itself a sum or a product.
//
// As functions of mathematical integers they describe what an expression computes modulo 2^64; facts.h determines
// whether that is the expression's value.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ferry::analysis {

using AtomId = std::uint32_t;

// Larger polynomials are left alone.
inline constexpr std::size_t kMaxDegree = 8;
inline constexpr std::size_t kMaxTerms = 48;

struct Product {
  std::array<AtomId, kMaxDegree> factors{};  // ascending; unused ones are 0
  std::uint8_t degree = 0;
  bool operator==(const Product& other) const {
    return degree == other.degree && std::equal(factors.begin(), factors.begin() + degree, other.factors.begin());
  }
  bool operator<(const Product& other) const;

  bool contains(AtomId atom) const;
  bool is_atom() const { return degree == 1; }
};

struct Term {
  std::int64_t coefficient = 0;
  Product product;
  bool operator==(const Term&) const = default;
};

struct Polynomial {
  std::vector<Term> terms;  // ascending by product; no zero coefficients
  std::int64_t constant = 0;
  bool valid = true;  // false: too large to represent; everything derived from it is invalid too

  bool operator==(const Polynomial&) const = default;
  bool is_constant() const { return valid && terms.empty(); }
  // Returns whether this is a single atom, times one.
  bool is_atom() const {
    return valid && constant == 0 && terms.size() == 1 && terms[0].coefficient == 1 && terms[0].product.is_atom();
  }
  std::size_t hash() const;
};

Polynomial invalid();
Polynomial constant_polynomial(std::int64_t value);
Polynomial atom_polynomial(AtomId atom);
// Returns a + factor * b.
Polynomial add(const Polynomial& a, const Polynomial& b, std::int64_t factor = 1);
Polynomial scale(const Polynomial& a, std::int64_t factor);
Polynomial multiply(const Polynomial& a, const Polynomial& b);
// Returns the sum of these terms, which may be in any order.
Polynomial from_terms(std::vector<Term> terms, std::int64_t constant);

// Writes `whole` as slope * atom + rest, neither of which contains the atom; slope is invalid when the atom occurs in a
// square.
struct Split {
  Polynomial slope, rest;
};
Split split_by(const Polynomial& whole, AtomId atom);
// Returns the greatest common divisor of the coefficients, not counting the constant; 0 without terms.
std::int64_t content(const Polynomial& polynomial);
// Computes the product without these factors; returns false if it does not contain them all.
bool divide(const Product& product, const Product& by, Product& quotient);

}  // namespace ferry::analysis
