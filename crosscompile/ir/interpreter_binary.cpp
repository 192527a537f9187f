// Binary operations, one small class per type and operation.
#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/interpreter_code.h"

namespace ferry::ir::interp {
namespace {

template <BinaryOp Op, class T>
bool compares(T a, T b) {
  if constexpr (Op == BinaryOp::eq) return a == b;
  if constexpr (Op == BinaryOp::ne) return a != b;
  if constexpr (Op == BinaryOp::lt) return a < b;
  if constexpr (Op == BinaryOp::le) return a <= b;
  if constexpr (Op == BinaryOp::gt) return a > b;
  return a >= b;
}

template <BinaryOp Op, class T>
T computes_float(T a, T b) {
  if constexpr (Op == BinaryOp::add) return a + b;
  if constexpr (Op == BinaryOp::sub) return a - b;
  if constexpr (Op == BinaryOp::mul) return a * b;
  if constexpr (Op == BinaryOp::div) return a / b;
  if constexpr (Op == BinaryOp::min) return float_min(a, b);
  return float_max(a, b);
}

template <BinaryOp Op, class T>
T computes_int(T a, T b) {
  // Computes in wide unsigned integers, where wrapping is defined.
  const auto x = static_cast<std::uint64_t>(static_cast<std::int64_t>(a));
  const auto y = static_cast<std::uint64_t>(static_cast<std::int64_t>(b));
  if constexpr (Op == BinaryOp::add) return static_cast<T>(x + y);
  if constexpr (Op == BinaryOp::sub) return static_cast<T>(x - y);
  if constexpr (Op == BinaryOp::mul) return static_cast<T>(x * y);
  if constexpr (Op == BinaryOp::div) return floor_div(a, b);
  if constexpr (Op == BinaryOp::mod) return floor_mod(a, b);
  if constexpr (Op == BinaryOp::min) return a < b ? a : b;
  if constexpr (Op == BinaryOp::max) return a > b ? a : b;
  if constexpr (Op == BinaryOp::bit_and) return static_cast<T>(x & y);
  if constexpr (Op == BinaryOp::bit_or) return static_cast<T>(x | y);
  if constexpr (Op == BinaryOp::bit_xor) return static_cast<T>(x ^ y);
  if constexpr (Op == BinaryOp::shl) return shift_left(a, b);
  return shift_right(a, b);
}

template <BinaryOp Op>
bool computes_bool(bool a, bool b) {
  if constexpr (Op == BinaryOp::bit_and || Op == BinaryOp::logical_and) return a && b;
  if constexpr (Op == BinaryOp::bit_or || Op == BinaryOp::logical_or) return a || b;
  return a != b;
}

constexpr bool compares_values(BinaryOp op) { return op >= BinaryOp::eq && op <= BinaryOp::ge; }
constexpr bool is_logical(BinaryOp op) { return op == BinaryOp::logical_and || op == BinaryOp::logical_or; }
constexpr bool is_bitwise(BinaryOp op) {
  return op == BinaryOp::bit_and || op == BinaryOp::bit_or || op == BinaryOp::bit_xor;
}

// Whether Binary::make() accepts the operation on the type.
template <DType D, BinaryOp Op>
constexpr bool kDefined =
    D == DType::boolean ? is_bitwise(Op) || is_logical(Op) || Op == BinaryOp::eq || Op == BinaryOp::ne
    : is_float(D)       ? Op < BinaryOp::mod || Op == BinaryOp::min || Op == BinaryOp::max || compares_values(Op)
                        : !is_logical(Op);

template <DType D, BinaryOp Op>
struct BinaryCode final : Code {
  Operand left, right;
  BinaryCode(CodePtr l, CodePtr r) : left(std::move(l)), right(std::move(r)) {}

  Value eval(Frame& frame, std::uint32_t lane) const override {
    using E = Element<D>;
    const auto a = E::get(left.eval(frame, lane));
    const auto b = E::get(right.eval(frame, lane));
    if constexpr (compares_values(Op)) {
      return Element<DType::boolean>::put(compares<Op>(a, b));
    } else if constexpr (D == DType::boolean) {
      return E::put(computes_bool<Op>(a, b));
    } else if constexpr (is_float(D)) {
      return E::put(computes_float<Op>(a, b));
    } else {
      return E::put(computes_int<Op>(a, b));
    }
  }
};

template <DType D>
CodePtr compile_typed(BinaryOp op, CodePtr left, CodePtr right) {
  switch (op) {
#define FERRY_CASE(name, text)                                                                   \
  case BinaryOp::name:                                                                           \
    if constexpr (kDefined<D, BinaryOp::name>) {                                                 \
      return std::make_unique<BinaryCode<D, BinaryOp::name>>(std::move(left), std::move(right)); \
    }                                                                                            \
    break;
    FERRY_IR_BINARY_OPS(FERRY_CASE)
#undef FERRY_CASE
  }
  throw InternalError("interpreter: this operation is not defined for its type");
}

}  // namespace

CodePtr compile_binary(const Binary& node, CodePtr left, CodePtr right) {
  return with_dtype(node.left.type().code, [&](auto type) {
    return compile_typed<decltype(type)::value>(node.op, std::move(left), std::move(right));
  });
}

}  // namespace ferry::ir::interp
