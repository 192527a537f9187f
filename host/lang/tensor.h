// Tensor expressions in C++: what is computed. The text notation builds the same objects.
//
//     Expr n = var("n");
//     Tensor a = placeholder({n}, DType::f32, "A");
//     Tensor b = compute({n}, [&](auto& i) { return a(i[0]) + 1.0f; }, "B");
#pragma once

#include "crosscompile/ir/operators.h"
#include "rpc/abi/manifest.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ferry::lang {

using ir::Expr;

struct Stage;

// Limits that keep recursion and the time of a walk bounded; compute() throws CompileError beyond them.
inline constexpr std::size_t kMaxOperations = 200'000;  // in one stage, shared parts counted at every use
inline constexpr std::uint32_t kMaxChainDepth = 10'000;

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(ir::BufferRef buffer) : buffer_(std::move(buffer)) {}

  const ir::BufferRef& buffer() const { return buffer_; }
  const std::string& name() const { return buffer_->name; }
  DType dtype() const { return buffer_->dtype; }
  const std::vector<Expr>& shape() const { return buffer_->shape; }
  std::size_t rank() const { return buffer_->shape.size(); }
  // Null for a placeholder.
  const Stage* stage() const;

  // The element at these indices. CompileError when their number is not the rank.
  Expr at(std::vector<Expr> indices) const;
  template <class... Index>
  Expr operator()(Index... index) const {
    return at({Expr(index)...});
  }
  Expr operator()(const std::vector<Expr>& indices) const { return at(indices); }

 private:
  ir::BufferRef buffer_;
};

// What a C function gets beside the address of its result: a tensor's address, or a number.
struct ExternArgument {
  template <std::same_as<Tensor> T>
  ExternArgument(T argument) : tensor(std::move(argument)) {}
  template <std::convertible_to<Expr> E>
  ExternArgument(E argument) : number(std::move(argument)) {}

  Tensor tensor;
  Expr number;
};
struct ExternFunction {
  std::string name;
  std::vector<ExternArgument> arguments;
};

// How a tensor's elements come about: for each point of `axes` (as many as the tensor has dimensions, extents its
// shape), values[k] is the element of output k. Either all values are expressions over the axes and other tensors, or
// all are components of one ir::Reduce: the same but for ir::Reduce::component. A sum of float16 or bfloat16 is a
// reduction of float32, whose results are rounded to the output's type.
struct Stage : ir::Definition {
  std::string name;
  std::vector<ir::Axis> axes;
  std::vector<Expr> values;
  // Stages with an assertion that must have been computed before this one: what keeps data-dependent indices inside.
  std::vector<Tensor> checks;
  // When not empty, the only value is a bool without dimensions; the call fails with this message when it is false.
  std::string assertion;
  // A C function that computes the only output as a whole; the value says what.
  std::shared_ptr<const ExternFunction> external;
  // Of the deepest chain of expressions and producers below it; at most kMaxChainDepth.
  std::uint32_t depth = 0;
};

inline const Stage* Tensor::stage() const { return static_cast<const Stage*>(buffer_->definition.get()); }

// A size or another integer the kernel is given at run time; with another type, a scalar argument.
Expr var(std::string name, ir::Type type = ir::kIndex);

// Dense in row-major order, or with its elements `strides` apart (one a dimension, in elements, at least 0): a view of
// a larger tensor. Strides that nothing else tells are further int64 arguments of the kernel.
Tensor placeholder(std::vector<Expr> shape, DType dtype, std::string name, std::vector<Expr> strides = {});

using ElementFunction = std::function<Expr(const std::vector<Expr>& index)>;
using ElementsFunction = std::function<std::vector<Expr>(const std::vector<Expr>& index)>;
// A reduction inside a larger expression becomes a stage of its own.
Tensor compute(std::vector<Expr> shape, const ElementFunction& element, std::string name);
// Several outputs of one shape. Reductions that are not components of one tuple become stages of their own.
std::vector<Tensor> compute_all(std::vector<Expr> shape, const ElementsFunction& elements, std::string name);
// What a tensor becomes: a tensor of its shape, and of its type, whose elements may be told from those it had before. A
// program whose parameter is inout(first, last) runs a chain of updates in order, in one piece of memory where it can.
Tensor update(const Tensor& before, const ElementFunction& element, std::string name);
// The same for axes the caller made (each from 0) and values over them, so that they carry the user's names. Several
// outputs are called NAME.0, NAME.1 and so on unless there is a name for each.
std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names = {});

// A reduction's loop: usable as an Expr inside the reduction's source.
class ReduceAxis {
 public:
  ReduceAxis(Expr min, Expr extent, std::string name);
  // One that was made already.
  explicit ReduceAxis(ir::Axis axis) : axis_(std::move(axis)) {}
  operator Expr() const { return axis_.var; }
  const ir::Axis& axis() const { return axis_; }

 private:
  ir::Axis axis_;
};
ReduceAxis reduce_axis(Expr extent, std::string name);

// Constant and symbolic extents; a condition excludes points. Starts from `from` when there is one, as an update does:
// reduce(ReduceOp::sum, a(i, k) * b(k, j), {k}, {}, c(i, j)).
Expr reduce(ir::ReduceOp op, Expr source, const std::vector<ReduceAxis>& axes, Expr condition = {}, Expr from = {});
Expr sum(Expr source, const std::vector<ReduceAxis>& axes);
Expr prod(Expr source, const std::vector<ReduceAxis>& axes);
Expr min_over(Expr source, const std::vector<ReduceAxis>& axes);
Expr max_over(Expr source, const std::vector<ReduceAxis>& axes);
Expr any_over(Expr source, const std::vector<ReduceAxis>& axes);
Expr all_over(Expr source, const std::vector<ReduceAxis>& axes);

// Whether one of these conditions holds, or all of them; at least one condition.
Expr any_of(const std::vector<Expr>& conditions);
Expr all_of(const std::vector<Expr>& conditions);

}  // namespace ferry::lang
