// The least and the greatest value of an index, as sizes say it.
#pragma once

#include "host/lang/polynomial.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace ferry::lang {

// Both ends included.
struct Interval {
  Polynomial low, high;
};

class Intervals {
 public:
  explicit Intervals(Algebra& algebra) : algebra_(algebra) {}

  void add_index(const ir::Expr& index) { indices_.insert(index.get()); }
  void set(const ir::Expr& index, Interval range) { known_[index.get()] = std::move(range); }
  bool knows(const ir::Expr& index) const { return known_.find(index.get()) != known_.end(); }

  // Exact when every index occurs once; otherwise at least as wide. Nothing when it depends on an index whose range is
  // not set, on a tensor's elements, or on an operation that a call's checks cannot compute.
  std::optional<Interval> of(const Polynomial& value);
  std::optional<Interval> of(const ir::Expr& expr) { return of(algebra_.of(expr)); }

  // The range of `index` over which low <= value <= high, for every value of the other indices. Nothing when the index
  // is not there, its factor is no constant, or the others are not known.
  std::optional<Interval> solve(Polynomial value, const ir::Expr& index, Polynomial low, Polynomial high);

 private:
  std::optional<Interval> of_atom(const ir::Expr& atom);
  std::optional<Interval> product(const Interval& a, const Interval& b);
  bool is_fixed(const ir::Expr& expr) const;
  bool uses_index(const ir::Expr& expr) const;

  Algebra& algebra_;
  std::unordered_set<const ir::ExprNode*> indices_;
  std::unordered_map<const ir::ExprNode*, Interval> known_;
};

}  // namespace ferry::lang
