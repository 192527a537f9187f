// A normal form of integer expressions over sizes and indices, in which equal expressions are recognised: sums of
// products of atoms with constant factors. An atom is a variable or any expression that is neither a sum nor a product
// (a division, a minimum).
#pragma once

#include "crosscompile/ir/expr.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

namespace ferry::lang {

struct Polynomial {
  // Maps sorted atom numbers to a factor, which is never 0; the constant term has no atoms.
  std::map<std::vector<std::size_t>, std::int64_t> terms;

  bool operator==(const Polynomial&) const = default;
  std::optional<std::int64_t> constant() const;
};

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
  const ir::Expr& atom(std::size_t number) const { return atoms_[number]; }

 private:
  std::size_t number_of(const ir::Expr& atom);
  Polynomial of_atom(const ir::Expr& atom);
  bool is_non_negative_variable(std::size_t number) const;
  bool proves(const Polynomial& value, int steps);

  std::vector<ir::Expr> atoms_;
  std::unordered_set<const ir::ExprNode*> non_negative_;
};

}  // namespace ferry::lang
