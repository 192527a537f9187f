// Reductions of the user's own: what makes one value, or one tuple of values, out of two, and what it starts from.
//
//     auto product = comm_reducer([](auto& left, auto& right) { return std::vector<Expr>{left[0] * right[0]}; },
//                                 [](auto& types) { return std::vector<Expr>{ir::constant(types[0], 1.0)}; },
//                                 "product");
//     Tensor p = compute({n}, [&](auto& i) { return product(a(i[0], k), {k}); }, "P");
//
// The combination must be associative and commutative, up to rounding, and the identity must change nothing: a schedule
// may combine parts in any grouping.
#pragma once

#include "host/lang/tensor.h"

#include <functional>
#include <string>
#include <vector>

namespace ferry::lang {

// In terms of two tuples; as many values as each has, of the same types. Uses nothing but its arguments.
using CombineFunction = std::function<std::vector<Expr>(const std::vector<Expr>& left, const std::vector<Expr>& right)>;
// Constants of these types; integers and floats that fit are converted.
using IdentityFunction = std::function<std::vector<Expr>(const std::vector<ir::Type>& types)>;

class CommReducer {
 public:
  CommReducer(CombineFunction combine, IdentityFunction identity, std::string name)
      : combine_(std::move(combine)), identity_(std::move(identity)), name_(std::move(name)) {}

  // The components of the combination of tuples over all points of the axes for which `condition` holds. All of them
  // together make the values of one compute_all(); one alone may stand wherever an expression may. `from` takes the
  // identity's place.
  std::vector<Expr> operator()(std::vector<Expr> sources, const std::vector<ReduceAxis>& axes, Expr condition = {},
                               std::vector<Expr> from = {}) const;
  // The same of tuples of one.
  Expr operator()(Expr source, const std::vector<ReduceAxis>& axes, Expr condition = {}, Expr from = {}) const;

 private:
  CombineFunction combine_;
  IdentityFunction identity_;
  std::string name_;
};
CommReducer comm_reducer(CombineFunction combine, IdentityFunction identity, std::string name);

// {the greatest (or least) value, the index that stands beside it}; the lowest such index, an int64. NaN counts as the
// greatest (and as the least). Over nothing: {the identity of max (or min), -1}.
std::vector<Expr> argmax_over(Expr value, Expr index, const std::vector<ReduceAxis>& axes, Expr condition = {});
std::vector<Expr> argmin_over(Expr value, Expr index, const std::vector<ReduceAxis>& axes, Expr condition = {});
// {how many, their mean, the sum of their squared distances from the mean} in one pass without cancellation (T. Chan,
// G. Golub, R. LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979). Floats.
std::vector<Expr> moments_over(Expr value, const std::vector<ReduceAxis>& axes, Expr condition = {});

}  // namespace ferry::lang
