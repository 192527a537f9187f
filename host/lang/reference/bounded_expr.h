// Expressions turned into others that compute in float64 what the reference evaluator computes in lanes (lanes.h): the
// same values, each with the same bound on its rounding error in a kernel.
#pragma once

#include "crosscompile/ir/expr.h"

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

namespace ferry {
class Context;
}

namespace ferry::lang {

// Stands for the error of a quotient whose divisor may be 0.
inline constexpr double kUnbounded = 0x1p1000;

// A float is of type f64 and rounded to the type that it has in the kernel; integers and bool have their own type.
struct BoundedExpr {
  ir::Expr value;
  ir::Expr error = {};  // f64; undefined: none
  // If known, the error is relative * |value| + absolute, up to its own rounding.
  struct Scale {
    double relative = 0, absolute = 0;
  };
  std::optional<Scale> scale = Scale{};

  bool is_exact() const { return !error.defined(); }
};

// The tensors that hold the elements and the errors of one of the kernel's; `error` is null if it has none.
struct BoundedBuffer {
  ir::BufferRef value, error;
};

class BoundedExprs {
 public:
  using Find = std::function<const BoundedBuffer&(const ir::BufferRef&)>;
  // The expressions may call the intrinsics of the context, which may be null and must outlive this object.
  BoundedExprs(Find find, const Context* context) : find_(std::move(find)), context_(context) {}

  // Throws CompileError for what cannot be said so.
  BoundedExpr of(const ir::Expr& expr);

 private:
  BoundedExpr make(const ir::Expr& expr);
  BoundedExpr of_let(const ir::Let& node);
  BoundedExpr load(const ir::Load& node);
  BoundedExpr cast(const ir::Cast& node);
  BoundedExpr unary(const ir::Unary& node);
  BoundedExpr binary(const ir::Binary& node);
  BoundedExpr call(const ir::Call& node);
  BoundedExpr math(ir::MathFunction function, DType type, const ir::Call& node);
  BoundedExpr bitcast(const ir::Call& node);

  Find find_;
  const Context* context_;
  std::unordered_map<const ir::ExprNode*, BoundedExpr> done_;
  std::vector<ir::Expr> kept_;  // keeps the keys of done_ alive
};

// Returns an f64 of a value that is rounded to the type, an expression that is evaluated once for all its uses, and a
// constant.
ir::Expr rounded_to(DType type, const ir::Expr& value);
ir::Expr shared(const ir::Expr& value, const std::function<ir::Expr(const ir::Expr&)>& body);
ir::Expr real(double value);
ir::Expr magnitude(const ir::Expr& value);
// Returns the sum or the larger one of two errors, either of which may be undefined.
ir::Expr error_sum(const ir::Expr& a, const ir::Expr& b);
ir::Expr error_max(const ir::Expr& a, const ir::Expr& b);

}  // namespace ferry::lang
