// Translates index expressions into polynomials and back. An expression that is neither a sum nor a product becomes an
// atom; quotients, remainders, minima and the like keep their operands as polynomials, so that equivalent operands give
// the same atom.
//
// A vector is a polynomial too: a Ramp is base + stride * lane, where there is one lane atom for each number of lanes.
#pragma once

#include "crosscompile/analysis/polynomial.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <unordered_map>
#include <vector>

namespace ferry::analysis {

enum class AtomKind : std::uint8_t { variable, lane, quotient, remainder, minimum, maximum, choice, opaque };

struct Atom {
  AtomKind kind = AtomKind::opaque;
  ir::Expr expr;
  Polynomial left, right;  // operands of quotient, remainder, minimum, maximum; the two values of a choice
  // Depends on memory or on an external function, and may differ from one place to another.
  bool is_volatile = false;
};

class Atoms {
 public:
  Atoms();

  // Returns the polynomial of an expression of kIndex elements.
  const Polynomial& polynomial(const ir::Expr& expr);
  ir::Expr expression(const Polynomial& polynomial, std::uint32_t lanes);

  const Atom& operator[](AtomId id) const { return atoms_[id]; }
  std::size_t size() const { return atoms_.size(); }
  AtomId variable(const ir::Expr& var);
  AtomId lane(std::uint32_t lanes);
  // Returns the atom of left / right or left % right, and makes it if necessary; 0 when the limit on atoms is reached.
  AtomId combined(AtomKind kind, const Polynomial& left, const Polynomial& right);
  // Returns 0 when there is no such atom yet.
  AtomId find(AtomKind kind, const Polynomial& left, const Polynomial& right) const;
  bool is_volatile(const Polynomial& polynomial) const;

 private:
  Polynomial compute(const ir::Expr& expr);
  Polynomial of_binary(const ir::Binary& node, const ir::Expr& expr);
  Polynomial pair(AtomKind kind, const ir::Expr& expr, const ir::Expr& left, const ir::Expr& right);
  Polynomial opaque(const ir::Expr& expr);
  AtomId append(Atom atom);
  // Adds the atom to the table that find() searches.
  AtomId insert(Atom atom, std::size_t hash);

  std::vector<Atom> atoms_;  // number 0 means none
  std::unordered_map<const ir::ExprNode*, AtomId> variables_;
  std::unordered_map<std::uint32_t, AtomId> lanes_;
  std::unordered_multimap<std::size_t, AtomId> by_hash_;
  // Keeps alive the expressions whose addresses are the keys.
  struct Cached {
    ir::Expr expr;
    Polynomial polynomial;
  };
  std::unordered_map<const ir::ExprNode*, Cached> cache_;
};

// Returns whether evaluating the expression may fail or give another value at another time: loads and external calls.
bool touches_memory(const ir::Expr& expr);

}  // namespace ferry::analysis
