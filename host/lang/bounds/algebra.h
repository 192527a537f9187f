// Integer expressions over sizes and indices as polynomials, in which equal expressions are recognised. An atom is a
// variable or any expression that is neither a sum nor a product (a division, a minimum).
#pragma once

#include "crosscompile/analysis/polynomial.h"
#include "crosscompile/ir/expr.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace ferry::lang {

using analysis::AtomId;
using analysis::Polynomial;

// Returns the atoms of a term.
std::span<const AtomId> atoms_of(const analysis::Term& term);
// Returns the value of a polynomial without atoms; nothing for any other.
std::optional<std::int64_t> constant_of(const Polynomial& value);
// Describes a bound in messages.
std::string bound_text(const Polynomial& bound);
// Returns the sum without that term, which it contains.
Polynomial without(const Polynomial& sum, const analysis::Term& term);

// The atoms of one statement. Throws CompileError when a factor overflows 64 bits or a polynomial grows too large.
class Algebra {
 public:
  // Declares a variable, such as a size, to be never negative.
  void set_non_negative(const ir::Expr& variable) { non_negative_.insert(variable.get()); }

  Polynomial of(const ir::Expr& expr);
  static Polynomial number(std::int64_t value);
  ir::Expr to_expr(const Polynomial& value) const;  // "H - KH + 1"

  Polynomial add(const Polynomial& a, const Polynomial& b) const;
  Polynomial subtract(const Polynomial& a, const Polynomial& b) const;
  Polynomial multiply(const Polynomial& a, const Polynomial& b) const;
  Polynomial floor_divide(const Polynomial& a, std::int64_t by);  // by > 0
  Polynomial smaller(const Polynomial& a, const Polynomial& b);
  Polynomial larger(const Polynomial& a, const Polynomial& b);

  // Returns true only if the value is non-negative for all values of the atoms.
  bool proves_non_negative(const Polynomial& value);
  const ir::Expr& atom(AtomId number) const { return atoms_[number - 1]; }

 private:
  AtomId number_of(const ir::Expr& atom);
  Polynomial of_atom(const ir::Expr& atom);
  bool is_non_negative_variable(AtomId number) const;
  bool proves(const Polynomial& value, int steps);

  std::vector<ir::Expr> atoms_;  // the first has number 1
  std::unordered_set<const ir::ExprNode*> non_negative_;
};

}  // namespace ferry::lang
