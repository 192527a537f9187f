// Tensor expressions in C++, which define what a kernel computes. The text notation builds the same objects.
//
//     Expr n = var("n");
//     Tensor a = placeholder({n}, DType::f32, "A");
//     Tensor b = compute({n}, [&](auto& i) { return a(i[0]) + 1.0f; }, "B");
#pragma once

#include "ferry/operators.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ferry::lang {

using ir::Expr;

struct Stage;  // internal

// Limits that bound recursion and the time of walking an expression; compute() throws CompileError beyond them.
inline constexpr std::size_t kMaxOperations = 200'000;  // in one stage, shared parts counted at every use
inline constexpr std::uint32_t kMaxChainDepth = 10'000;

// A handle: cheap to copy, and copies share the same tensor. One made by the default constructor has only buffer(),
// which is null.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(ir::BufferRef buffer) : buffer_(std::move(buffer)) {}

  const ir::BufferRef& buffer() const { return buffer_; }
  const std::string& name() const;
  DType dtype() const;
  const std::vector<Expr>& shape() const;
  std::size_t rank() const { return shape().size(); }
  // The definition; null for a placeholder.
  const Stage* stage() const;

  // Returns the element at these indices. Throws CompileError when their number is not the rank.
  Expr at(std::vector<Expr> indices) const;
  template <class... Index>
  Expr operator()(Index... index) const {
    return at({Expr(index)...});
  }
  Expr operator()(const std::vector<Expr>& indices) const { return at(indices); }

 private:
  ir::BufferRef buffer_;
};

// A size or another integer given to the kernel at run time; with another type, a scalar argument.
Expr var(std::string name, ir::Type type = ir::kIndex);

// A tensor that is dense in row-major order, or a view of a larger one with its elements `strides` apart (one stride
// for each dimension, in elements, at least 0). Strides that nothing else determines become additional int64 arguments
// of the kernel.
Tensor placeholder(std::vector<Expr> shape, DType dtype, std::string name, std::vector<Expr> strides = {});

using ElementFunction = std::function<Expr(const std::vector<Expr>& index)>;
using ElementsFunction = std::function<std::vector<Expr>(const std::vector<Expr>& index)>;
// A reduction inside a larger expression becomes a stage of its own. Throws CompileError for a read that always leaves
// its tensor; one that sizes decide becomes a requirement of the program, and all others are checked when the kernel
// runs. The read on the chosen side of if_then_else() need stay inside only where it is chosen.
Tensor compute(std::vector<Expr> shape, const ElementFunction& element, std::string name);
// Several outputs of one shape. Reductions that are not components of one tuple become stages of their own.
std::vector<Tensor> compute_all(std::vector<Expr> shape, const ElementsFunction& elements, std::string name);
// Returns an updated version of a tensor: a new tensor of the same shape and type, whose elements may depend on the
// previous ones. A program whose parameter is inout(first, last) runs a chain of updates in order, in place where
// possible.
Tensor update(const Tensor& before, const ElementFunction& element, std::string name);
// The same for axes made by the caller (each starting at 0) and values over them, which keeps the user's names. Several
// outputs are called NAME.0, NAME.1 and so on unless there is a name for each.
std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names = {});

// An axis of a reduction: usable as an Expr inside the reduction's source.
class ReduceAxis {
 public:
  ReduceAxis(Expr min, Expr extent, std::string name);
  // Wraps an existing axis.
  explicit ReduceAxis(ir::Axis axis) : axis_(std::move(axis)) {}
  operator Expr() const { return axis_.var; }
  const ir::Axis& axis() const { return axis_; }

 private:
  ir::Axis axis_;
};
ReduceAxis reduce_axis(Expr extent, std::string name);

// Extents are constant or symbolic; a condition excludes points. The reduction starts from `from` if it is given, as an
// update does: reduce(ReduceOp::sum, a(i, k) * b(k, j), {k}, {}, c(i, j)).
Expr reduce(ir::ReduceOp op, Expr source, const std::vector<ReduceAxis>& axes, Expr condition = {}, Expr from = {});
Expr sum(Expr source, const std::vector<ReduceAxis>& axes);
Expr prod(Expr source, const std::vector<ReduceAxis>& axes);
Expr min_over(Expr source, const std::vector<ReduceAxis>& axes);
Expr max_over(Expr source, const std::vector<ReduceAxis>& axes);
Expr any_over(Expr source, const std::vector<ReduceAxis>& axes);
Expr all_over(Expr source, const std::vector<ReduceAxis>& axes);

// Whether any or all of these conditions hold; there must be at least one condition.
Expr any_of(const std::vector<Expr>& conditions);
Expr all_of(const std::vector<Expr>& conditions);

}  // namespace ferry::lang
