// The nodes of expressions. ferry/expr.h says what they compute.
#pragma once

#include "crosscompile/ir/buffer.h"
#include "crosscompile/ir/callee.h"

#include <string>
#include <vector>

namespace ferry::ir {

// op, text
#define FERRY_IR_BINARY_OPS(X)                                   \
  X(add, "+")                                                    \
  X(sub, "-")                                                    \
  X(mul, "*")                                                    \
  X(div, "/") /* floor for integers */                           \
  X(mod, "%") /* floor for integers; integers only */            \
  X(min, "min")                                                  \
  X(max, "max")                                                  \
  X(bit_and, "&")                                                \
  X(bit_or, "|")                                                 \
  X(bit_xor, "^")                                                \
  X(shl, "<<")                                                   \
  X(shr, ">>") /* arithmetic for signed, logical for unsigned */ \
  X(eq, "==")                                                    \
  X(ne, "!=")                                                    \
  X(lt, "<")                                                     \
  X(le, "<=")                                                    \
  X(gt, ">")                                                     \
  X(ge, ">=")                                                    \
  X(logical_and, "&&")                                           \
  X(logical_or, "||")

enum class BinaryOp : std::uint8_t {
#define FERRY_ENUM(name, text) name,
  FERRY_IR_BINARY_OPS(FERRY_ENUM)
#undef FERRY_ENUM
};

enum class UnaryOp : std::uint8_t { neg, bit_not, logical_not };

bool is_comparison(BinaryOp op);

// An integer or bool constant. `value` holds the low bits, sign- or zero-extended to 64 bits according to the type.
struct IntImm : ExprNode {
  static constexpr ExprKind kKind = ExprKind::IntImm;
  std::int64_t value;
  static Expr make(Type scalar_type, std::int64_t value);
};

// A float constant, already rounded to its type.
struct FloatImm : ExprNode {
  static constexpr ExprKind kKind = ExprKind::FloatImm;
  double value;
  static Expr make(Type scalar_type, double value);
};

// A variable, identified by its node: two variables are the same only if they are the same node.
struct Var : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Var;
  std::string name;
  static Expr make(std::string name, Type type = kIndex);
};

struct Cast : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Cast;
  Expr value;
  static Expr make(DType to, Expr value);  // keeps the lanes; returns the value itself if it has that type
};

struct Unary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Unary;
  UnaryOp op;
  Expr value;
  static Expr make(UnaryOp op, Expr value);
};

// Both sides have the same type. Comparisons and logical operations give bool.
struct Binary : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Binary;
  BinaryOp op;
  Expr left, right;
  static Expr make(BinaryOp op, Expr left, Expr right);
};

// Both values are evaluated; the condition has the same number of lanes as they.
struct Select : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Select;
  Expr condition, on_true, on_false;
  static Expr make(Expr condition, Expr on_true, Expr on_false);
};

// Only the chosen side is evaluated, so the condition may guard an index. With a vector condition each lane chooses for
// itself, and lanes do not execute the loads of the side that they do not choose.
struct IfThenElse : ExprNode {
  static constexpr ExprKind kKind = ExprKind::IfThenElse;
  Expr condition, on_true, on_false;
  static Expr make(Expr condition, Expr on_true, Expr on_false);
};

// Reads one element, or one per lane. There are as many indices as the buffer has dimensions, all kIndex with equal
// lanes; after flattening there is a single index into the whole buffer. Lanes whose mask (bool, optional) is false
// read nothing and give 0.
struct Load : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Load;
  BufferRef buffer;
  std::vector<Expr> indices;
  Expr mask;
  static Expr make(BufferRef buffer, std::vector<Expr> indices, Expr mask = {});
};

// A call of a math function, an operation, an external C function or an intrinsic, as ir/callee.h defines them. Except
// for dot, the arguments have as many lanes as the call.
struct Call : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Call;
  Callee callee;
  std::vector<Expr> arguments;
  static Expr make(Type type, Callee callee, std::vector<Expr> arguments);
};

// An associative and commutative combination of tuples, with its identity. combine[i] is an expression over left and
// right.
struct Reducer {
  ReduceOp op = ReduceOp::user;
  std::string name;
  std::vector<Expr> left, right;  // Var
  std::vector<Expr> combine;
  std::vector<Expr> identity;
};
using ReducerRef = std::shared_ptr<const Reducer>;

// The combination of `sources` over all points of `axes` (first axis outermost) for which `condition` holds, starting
// from `init`, or from the identity. Its value is component `component` of the tuple. Occurs only at the top of a
// definition, and only before lowering.
struct Reduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Reduce;
  ReducerRef reducer;
  std::vector<Expr> sources;
  std::vector<Axis> axes;
  Expr condition;          // may be nothing
  std::vector<Expr> init;  // may be empty
  std::size_t component;
  static Expr make(ReducerRef reducer, std::vector<Expr> sources, std::vector<Axis> axes, Expr condition = {},
                   std::vector<Expr> init = {}, std::size_t component = 0);
};

struct Let : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Let;
  Expr var, value, body;
  static Expr make(Expr var, Expr value, Expr body);
};

// base, base + stride, base + 2 * stride, ...
struct Ramp : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Ramp;
  Expr base, stride;  // scalars
  static Expr make(Expr base, Expr stride, std::uint32_t lanes);
};

struct Broadcast : ExprNode {
  static constexpr ExprKind kKind = ExprKind::Broadcast;
  Expr value;                                         // scalar
  static Expr make(Expr value, std::uint32_t lanes);  // returns the value itself for one lane
};

// Reduces the lanes of a vector to a scalar; float sums and products may be reassociated.
struct VectorReduce : ExprNode {
  static constexpr ExprKind kKind = ExprKind::VectorReduce;
  ReduceOp op;  // not user
  Expr value;
  static Expr make(ReduceOp op, Expr value);
};

// Returns the identity of a built-in reduction in this type.
Expr identity_of(ReduceOp op, Type type);
// Makes the reducer for sum, prod, min, max, any or all over one component.
ReducerRef make_reducer(ReduceOp op, Type type);

}  // namespace ferry::ir
