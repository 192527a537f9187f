// The facts known at a place in a function, that is, ranges of loop variables and sizes and the conditions that hold
// there, and what follows from them.
//
// Index arithmetic (type kIndex) wraps as wrapping.h says. is_exact() and value_range() tell where it certainly does
// not, by the ranges where they are known, and otherwise by the rule that sizes and loop variables are small: what
// follows from the ranges of a polynomial's terms holds for the 64-bit value only there.
#pragma once

#include "crosscompile/analysis/atoms.h"
#include "crosscompile/analysis/interval.h"

#include <optional>
#include <vector>

namespace ferry::analysis {

// Returns the comparison that holds where this one does not (for integers; floats have NaN).
ir::BinaryOp opposite(ir::BinaryOp comparison);

class Facts {
 public:
  Atoms atoms;

  // Forgets at its end the facts learnt since its construction.
  class Scope {
   public:
    explicit Scope(Facts& facts);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Facts& facts_;
    std::size_t undo_, inequalities_, conditions_;
    std::uint32_t depth_;
  };

  // The variable lies in [min, min + extent), and there is at least one iteration.
  void enter_loop(const ir::Expr& var, const ir::Expr& min, const ir::Expr& extent);
  void define(const ir::Expr& var, const ir::Expr& value);
  void limit(const ir::Expr& var, Interval range);
  // States that the condition is true (or false) here. Conditions on memory, which may change, are not learnt.
  void assume(const ir::Expr& condition, bool truth = true);

  // Range of the polynomial as a mathematical function.
  Interval range(const Polynomial& polynomial) const;
  Interval range(AtomId atom) const;
  // Whether the variable has a range that is too large for a size or the variable of a loop.
  bool is_data(const ir::Expr& var);
  // Range of the result of the 64-bit computation.
  Interval value_range(const Polynomial& polynomial) const;
  // Returns whether the 64-bit computation gives the mathematical value.
  bool is_exact(const Polynomial& polynomial) const;
  // Returns true only when the mathematical value is certainly at least 0.
  bool proves_nonnegative(const Polynomial& polynomial) const;
  // Returns the truth of a condition that was assumed in exactly this form.
  std::optional<bool> known(const ir::Expr& condition) const;

 private:
  struct Known {
    Interval range;
    std::vector<Polynomial> lower, upper;
    std::uint32_t level = 0;  // later definitions are eliminated first
  };
  struct Undo {
    AtomId atom;
    Known before;
  };

  Known& change(AtomId atom);
  void learn_nonnegative(const Polynomial& polynomial);
  void learn_positive(const ir::Expr& product);
  void learn_bounds(const Polynomial& polynomial);
  void learn_range(AtomId atom, Interval range);
  void learn_comparison(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right);
  void learn_different(const Polynomial& difference);
  Interval atom_range(AtomId atom) const;
  Interval range_of(const Product& product) const;
  Int128 largest_factor(const Term& term) const;
  std::uint32_t level(AtomId atom) const;

  bool prove(const Polynomial& polynomial, int depth) const;
  bool prove_without(AtomId atom, const Polynomial& slope, const Polynomial& rest, bool rising, int depth) const;
  bool prove_quotient(const Atom& atom, const Polynomial& slope, const Polynomial& rest, bool rising, int depth) const;
  bool prove_with_inequalities(const Polynomial& polynomial, int depth) const;

  std::vector<Known> known_;  // by atom; may be shorter than the number of atoms
  std::vector<Undo> undo_;
  std::vector<Polynomial> inequalities_;  // each at least 0
  struct Condition {
    ir::Expr expr;
    bool truth;
  };
  std::vector<Condition> conditions_;
  std::uint32_t depth_ = 0;

  // Ranges of atoms, valid for one generation of facts.
  struct Cached {
    std::uint64_t generation = 0;
    Interval range;
  };
  mutable std::vector<Cached> ranges_;
  std::uint64_t generation_ = 1;
  mutable int budget_ = 0;
};

}  // namespace ferry::analysis
