#include "host/graph/kernels/quantizing.h"

#include "crosscompile/ir/callee.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cstdint>

namespace ferry::graph {
namespace {

using lang::Expr;

bool is_node(const KernelOperand& operand) { return operand.kind == KernelOperand::Kind::node; }

// Returns the node whose result an operand is, rounded.
std::optional<std::size_t> quotient_of(const KernelKey& key, const KernelOperand& rounded) {
  if (!is_node(rounded) || key.nodes[rounded.index].op != Operator::round) return std::nullopt;
  const KernelOperand& quotient = key.nodes[rounded.index].operands[0];
  return is_node(quotient) && is_quantizing(key, quotient.index) ? std::optional(quotient.index) : std::nullopt;
}

}  // namespace

bool is_quantizing(const KernelKey& key, std::size_t node) {
  const KernelNode& division = key.nodes[node];
  if (division.op != Operator::div || node + 1 == key.nodes.size() ||
      division.operands[1].kind != KernelOperand::Kind::input)
    return false;
  const KernelInput& divisor = key.inputs[division.operands[1].index];
  return divisor.is_constant && divisor.dtype == DType::f32 &&
         std::ranges::all_of(key.nodes, [&](const KernelNode& reader) {
           return reader.op == Operator::round || std::ranges::none_of(reader.operands, [&](const auto& operand) {
                    return is_node(operand) && operand.index == node;
                  });
         });
}

std::optional<Quantized> quantized_by(const KernelKey& key, const KernelNode& cast) {
  const auto* attributes = std::get_if<CastAttributes>(&cast.attributes);
  if (attributes == nullptr || (attributes->to != DType::u8 && attributes->to != DType::i8)) return std::nullopt;
  if (const auto quotient = quotient_of(key, cast.operands[0])) return Quantized{*quotient, std::nullopt};
  if (!is_node(cast.operands[0])) return std::nullopt;
  const KernelNode& sum = key.nodes[cast.operands[0].index];
  if (sum.op != Operator::add) return std::nullopt;
  for (const std::size_t rounded : {0U, 1U}) {
    const KernelOperand& zero = sum.operands[1 - rounded];
    if (zero.kind != KernelOperand::Kind::input || !key.inputs[zero.index].is_zero_point) continue;
    if (const auto quotient = quotient_of(key, sum.operands[rounded])) return Quantized{*quotient, zero.index};
  }
  return std::nullopt;
}

// A sum with 1.5 * 2^23 has no bits for a fraction, so it is rounded to an integer, halves to the even one, as 1.5 *
// 2^23 is even. If it lies between 2^23 and 2^24, its bits are those of 1.5 * 2^23 plus the integer. Read as integers,
// the bits of positive floats have the order of the floats, and those of others are negative, so limits to the bits are
// limits to the number, whatever its size. The bits of 1.5 * 2^23 end in zeros.
Expr rounded_byte(DType to, const Expr& x, const Expr& zero) {
  constexpr double kRounder = 0x1.8p23;
  constexpr std::int64_t kRounderBits = 0x4b400000;
  const auto integer = [](std::int64_t value) { return ir::constant(DType::i32, value); };
  const Expr offset = zero.defined() ? ir::cast(DType::i32, zero) : integer(0);
  const Expr bits = ir::Call::make(DType::i32, ir::CallOp::bitcast, {x + ir::constant(DType::f32, kRounder)});
  const std::int64_t least = to == DType::i8 ? INT8_MIN : 0, greatest = to == DType::i8 ? INT8_MAX : UINT8_MAX;
  const Expr limited =
      ir::min(ir::max(bits, integer(kRounderBits + least) - offset), integer(kRounderBits + greatest) - offset);
  return ir::cast(to, limited + offset);
}

}  // namespace ferry::graph
