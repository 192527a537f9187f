// Symbolic lower and upper bounds of an index in terms of sizes.
#pragma once

#include "host/lang/bounds/algebra.h"

#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace ferry::lang {

// A closed interval.
struct Interval {
  Polynomial low, high;
  bool exact = true;  // both ends are attained unless a range of indices is empty; otherwise it may be too wide
};

class Intervals {
 public:
  explicit Intervals(Algebra& algebra) : algebra_(algebra) {}

  void add_index(const ir::Expr& index) { indices_.insert(index.get()); }
  void set(const ir::Expr& index, Interval range) { known_[index.get()] = std::move(range); }
  bool knows(const ir::Expr& index) const { return known_.find(index.get()) != known_.end(); }

  // Returns nothing when the value depends on an index whose range is not set, on a tensor's elements, or on an
  // operation that a call's checks cannot compute.
  std::optional<Interval> of(const Polynomial& value);
  std::optional<Interval> of(const ir::Expr& expr) { return of(algebra_.of(expr)); }

  // Returns the range of `index` over which low <= value <= high for every value of the other indices, or nothing when
  // the value does not contain the index, its factor is not constant, or the other indices are unknown.
  std::optional<Interval> solve(Polynomial value, const ir::Expr& index, Polynomial low, Polynomial high);

 private:
  std::optional<Interval> of_atom(const ir::Expr& atom);
  Interval product(const Interval& a, const Interval& b);
  std::optional<Interval> quotient(const Interval& dividend, const Interval& divisor);
  Interval remainder(const ir::Expr& dividend, const Interval& range, const Interval& divisor);
  Polynomial divide(const Polynomial& dividend, const Polynomial& divisor);
  Interval around(std::initializer_list<Polynomial> values);
  bool is_fixed(const ir::Expr& expr) const;
  bool uses_index(const ir::Expr& expr) const;
  bool is_index_and_offset(const ir::Expr& expr);
  bool shares_index(const ir::Expr& a, const ir::Expr& b) const;

  Algebra& algebra_;
  std::unordered_set<const ir::ExprNode*> indices_;
  std::unordered_map<const ir::ExprNode*, Interval> known_;
};

}  // namespace ferry::lang
