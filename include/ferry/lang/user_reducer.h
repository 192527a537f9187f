// User-defined reductions: a function that combines two values, or two tuples of values, and its identity.
//
//     auto product = comm_reducer([](auto& left, auto& right) { return std::vector<Expr>{left[0] * right[0]}; },
//                                 [](auto& types) { return std::vector<Expr>{ir::constant(types[0], 1.0)}; },
//                                 "product");
//     Tensor p = compute({n}, [&](auto& i) { return product(a(i[0], k), {k}); }, "P");
//
// The combination must be associative and commutative, up to rounding, and combining with the identity must change
// nothing: a schedule may combine parts in any grouping.
#pragma once

#include "ferry/lang/tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace ferry::lang {

// Combines two tuples into one with as many values of the same types. Uses nothing but its arguments.
using CombineFunction = std::function<std::vector<Expr>(const std::vector<Expr>& left, const std::vector<Expr>& right)>;
// Returns constants of these types; integers and floats that fit are converted.
using IdentityFunction = std::function<std::vector<Expr>(const std::vector<ir::Type>& types)>;

class CommReducer {
 public:
  CommReducer(CombineFunction combine, IdentityFunction identity, std::string name)
      : combine_(std::move(combine)), identity_(std::move(identity)), name_(std::move(name)) {}

  // Returns the components of the combination of tuples over all points of the axes for which `condition` holds. All of
  // them together are the values of one compute_all(); a single one may be used like any expression. `from` replaces
  // the identity.
  std::vector<Expr> operator()(std::vector<Expr> sources, const std::vector<ReduceAxis>& axes, Expr condition = {},
                               std::vector<Expr> from = {}) const;
  // The same for tuples of one value.
  Expr operator()(Expr source, const std::vector<ReduceAxis>& axes, Expr condition = {}, Expr from = {}) const;

 private:
  CombineFunction combine_;
  IdentityFunction identity_;
  std::string name_;
};
CommReducer comm_reducer(CombineFunction combine, IdentityFunction identity, std::string name);

// Returns {the greatest (or least) value, the lowest index at which it occurs, as int64}. NaN counts as the greatest
// (and as the least). Over no points: {the identity of max (or min), -1}.
std::vector<Expr> argmax_over(Expr value, Expr index, const std::vector<ReduceAxis>& axes, Expr condition = {});
std::vector<Expr> argmin_over(Expr value, Expr index, const std::vector<ReduceAxis>& axes, Expr condition = {});
// Returns {the count, the mean, the sum of squared deviations from the mean}, computed in one pass without cancellation
// (T. Chan, G. Golub, R. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979).
// For floats only.
std::vector<Expr> moments_over(Expr value, const std::vector<ReduceAxis>& axes, Expr condition = {});

}  // namespace ferry::lang
