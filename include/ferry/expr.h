// Expressions, from which definitions of tensors are made, and their semantics, which are the same in the interpreter
// and in every code generator. ferry/operators.h builds them.
//
// Integers are two's complement: +, -, * and negation wrap. Division and modulo round towards negative infinity.
// Dividing by zero gives 0, and so does the modulo; the smallest value divided by -1 wraps to itself (modulo 0). A
// shift by less than 0 or at least the width gives 0, or the sign for >> of a signed value.
//
// Casts: between integers keep the low bits; to bool test for != 0; from bool give 0 or 1; from integers to floats
// round to nearest even; from floats to integers truncate towards zero, saturate at the ends of the range, and map NaN
// to 0; between floats round to nearest even once.
//
// Floats: each operation rounds once in its own type, except that a multiplication may be contracted with the addition
// or subtraction that uses it. min and max return NaN when either side is NaN; which zero they return for +0 and -0 is
// unspecified. float16 and bfloat16 operations compute in float32 and round.
//
// && and || evaluate both sides; only if_then_else guards.
//
// Vectors: all operands of an operation have the same number of lanes, and it works lane by lane.
#pragma once

#include "ferry/types.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace ferry::ir {

// The type of an expression: an element type and a number of vector lanes.
struct Type {
  DType code = DType::i64;
  std::uint32_t lanes = 1;

  constexpr Type() = default;
  constexpr Type(DType element, std::uint32_t lane_count = 1) : code(element), lanes(lane_count) {}
  constexpr bool operator==(const Type&) const = default;

  constexpr bool is_scalar() const { return lanes == 1; }
  constexpr bool is_vector() const { return lanes > 1; }
  constexpr bool is_float() const { return ferry::is_float(code); }
  // Such values are stored narrow, and computed as float32 unless the target computes with them.
  constexpr bool is_narrow_float() const { return code == DType::f16 || code == DType::bf16; }
  constexpr bool is_bool() const { return code == DType::boolean; }
  constexpr bool is_signed_int() const { return ferry::is_signed_int(code); }
  constexpr bool is_unsigned_int() const { return ferry::is_unsigned_int(code); }
  constexpr bool is_int() const { return is_signed_int() || is_unsigned_int(); }
  int bits() const { return is_bool() ? 1 : static_cast<int>(dtype_bytes(code)) * 8; }
  constexpr Type element() const { return Type(code); }
  constexpr Type with_lanes(std::uint32_t n) const { return Type(code, n); }
};

// The type of sizes and indices.
inline constexpr Type kIndex{DType::i64};
inline constexpr Type kBool{DType::boolean};

// Returns "f32" or "f32x8", for example.
std::string to_text(Type type);

// A shared reference to an immutable node, or nothing. What a node contains is internal.
template <class Base>
class Ref {
 public:
  Ref() = default;
  template <class T>
  Ref(std::shared_ptr<const T> node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  explicit operator bool() const { return defined(); }
  auto kind() const { return node_->kind; }
  const Base* get() const { return node_.get(); }
  // Compares identity, not structure.
  bool same_as(const Ref& other) const { return node_ == other.node_; }
  // Returns the node as a T, or null when it is another kind (or nothing).
  template <class T>
  const T* as() const {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  std::shared_ptr<const Base> node_;
};

struct ExprNode;

// A handle: cheap to copy, and copies share the same expression.
class Expr : public Ref<ExprNode> {
 public:
  Expr() = default;
  template <class T>
  Expr(std::shared_ptr<const T> node) : Ref(std::move(node)) {}
  // Index constants.
  Expr(int value);
  Expr(std::int64_t value);
  // Float constants, f32 and f64.
  Expr(float value);
  Expr(double value);

  // The expression must be defined().
  Type type() const;
};

// Prints C-like text.
std::string to_text(const Expr& expr);

// A loop variable with its range [min, min + extent).
struct Axis {
  Expr var;
  Expr min;
  Expr extent;
};

enum class ReduceOp : std::uint8_t { sum, prod, min, max, any, all, user };

// The functions of math.def.
enum class MathFunction : std::uint8_t {
#define FERRY_MATH(name, arguments, kind) name,
#include "ferry/math.def"
#undef FERRY_MATH
};

// A condition over sizes and int64 scalars that every call must fulfil, and the message of the error otherwise.
struct Requirement {
  Expr condition;
  std::string message;
};

// A named piece of memory with an element type and a shape; identity is the pointer.
struct Buffer;
using BufferRef = std::shared_ptr<const Buffer>;

}  // namespace ferry::ir
