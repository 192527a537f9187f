// The callee of a Call: a function of math.def, one of ferry's own operations, an external C function, or an intrinsic
// of the user's (crosscompile/intrinsics).
//
// To add an operation, add a line to FERRY_IR_OPERATIONS. Each place that must know the operation is a switch over
// CallOp without a default, so the compiler names it (docs/architecture.md lists these places).
#pragma once

#include "ferry/expr.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ferry::ir {

// The types that a function of math.def accepts: floats only, all numbers, or integers only.
enum class MathKind : std::uint8_t { float_only, any_number, integer };

struct MathSignature {
  std::string_view name;
  std::size_t arguments;
  MathKind kind;
};
// All functions of math.def, in the order of the enum.
std::span<const MathSignature> math_functions();
const MathSignature& signature_of(MathFunction function);
// Returns nothing for a name that is not in math.def.
std::optional<MathFunction> find_math(std::string_view name);

// bitcast: the bits of a value as a type of the same width.
// dot: takes a sum (i32 or f32) and two vectors with k times its lanes, of 8- and 16-bit integers or of floats: lane i
//   is sum[i] + left[i*k] * right[i*k] + ... + left[i*k+k-1] * right[i*k+k-1] in the sum's type. Integers wrap; floats
//   may be added in any order, and subnormal bfloat16 values and their products may count as 0.
// scale: takes two f32, the second of which is an integer n, and gives the first * 2^n, rounded once. It exists only
//   where it is an instruction.
// shuffle_xor: ir/shuffle.h. barrier: ir/barrier.h. prefetch: ir/prefetch.h.
// commit_copies, wait_copies: ir/async_copy.h. address_of: ir/extern_call.h.
#define FERRY_IR_OPERATIONS(X) \
  X(bitcast)                   \
  X(dot)                       \
  X(scale)                     \
  X(shuffle_xor)               \
  X(barrier)                   \
  X(prefetch)                  \
  X(commit_copies)             \
  X(wait_copies)               \
  X(address_of)

enum class CallOp : std::uint8_t {
  math,       // Callee::math
  external,   // the C function Callee::name, on scalars (applied lane by lane) or, in an Evaluate, on memory
  intrinsic,  // the user's intrinsic Callee::name, until passes::lower_intrinsics
#define FERRY_ENUM(name) name,
  FERRY_IR_OPERATIONS(FERRY_ENUM)
#undef FERRY_ENUM
};

struct Callee {
  CallOp op = CallOp::external;
  MathFunction math{};  // meaningful only for CallOp::math
  std::string name;     // an external function's or an intrinsic's; otherwise empty

  Callee() = default;
  // Not for math, external and intrinsic.
  Callee(CallOp operation) : op(operation) {}
  Callee(MathFunction function) : op(CallOp::math), math(function) {}
  static Callee external(std::string name) { return {CallOp::external, std::move(name)}; }
  static Callee intrinsic(std::string name) { return {CallOp::intrinsic, std::move(name)}; }

  bool is(MathFunction function) const { return op == CallOp::math && math == function; }
  bool operator==(const Callee&) const = default;

 private:
  Callee(CallOp operation, std::string function) : op(operation), name(std::move(function)) {}
};

// Returns the name as printed IR shows it.
std::string to_text(const Callee& callee);

}  // namespace ferry::ir
