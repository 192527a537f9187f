#include "crosscompile/passes/legalize/legalize_floats.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/legalize/narrow_floats.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "ferry/operators.h"

#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

class Legalizer : public Mutator {
 public:
  explicit Legalizer(const Target& target) : target_(target) {}

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const FloatImm& node, const Expr& self) override {
    if (!to_be_replaced(node.type)) return self;
    const std::uint16_t bits = node.type.code == DType::f16 ? f64_to_f16(node.value) : f64_to_bf16(node.value);
    return bitcast(node.type.code, constant(Type(DType::u16), std::int64_t{bits}));
  }

  Expr mutate_node(const Cast& node, const Expr& self) override {
    const DType from = node.value.type().code;
    const DType to = node.type.code;
    if (Type(from).is_narrow_float()) {
      const Expr value = as_f32(node.value);
      return Type(to).is_narrow_float() ? rounded(to, value) : cast(to, value);
    }
    if (!Type(to).is_narrow_float()) return Mutator::mutate_node(node, self);
    const Expr value = mutate(node.value);
    if (from == DType::f32) return rounded(to, value);
    if (from == DType::f64) return rounded(to, f64_to_f32_odd(value));
    // Integers that float32 does not represent exactly exceed float16's largest number, but not bfloat16's.
    const bool exact = to == DType::f16 || value.type().bits() <= 16;
    return rounded(to, exact ? cast(DType::f32, value) : int_to_f32_odd(value));
  }

  Expr mutate_node(const Unary& node, const Expr& self) override {
    if (!to_be_replaced(node.type)) return Mutator::mutate_node(node, self);
    const Expr bits = bitcast(DType::u16, mutate(node.value));
    return bitcast(node.type.code, bits ^ constant(bits.type(), std::int64_t{0x8000}));
  }

  Expr mutate_node(const Binary& node, const Expr& self) override {
    if (!to_be_replaced(node.left.type())) return Mutator::mutate_node(node, self);
    const Expr wide = Binary::make(node.op, as_f32(node.left), as_f32(node.right));
    return is_comparison(node.op) ? wide : rounded(node.type.code, wide);
  }

  Expr mutate_node(const Call& node, const Expr& self) override {
    switch (node.callee.op) {
      case CallOp::math: return legal_math(node, self);
      case CallOp::dot: return legal_dot(node, self);
      case CallOp::external:
      case CallOp::intrinsic:
      case CallOp::bitcast:
      case CallOp::scale:
      case CallOp::shuffle_xor:
      case CallOp::barrier:
      case CallOp::prefetch:
      case CallOp::commit_copies:
      case CallOp::wait_copies:
      case CallOp::address_of: return Mutator::mutate_node(node, self);
    }
    throw InternalError("legalize_floats: unknown operation");
  }

  Expr mutate_node(const VectorReduce& node, const Expr& self) override {
    if (!to_be_replaced(node.type)) return Mutator::mutate_node(node, self);
    return rounded(node.type.code, VectorReduce::make(node.op, as_f32(node.value)));
  }

 private:
  bool to_be_replaced(Type type) const { return type.is_narrow_float() && !computes_natively(type.code, target_); }

  // Math functions compute in float32 even where arithmetic is native.
  Expr legal_math(const Call& node, const Expr& self) {
    if (!node.type.is_narrow_float()) return Mutator::mutate_node(node, self);
    if (node.callee.math == MathFunction::abs) {
      const Expr bits = bitcast(DType::u16, mutate(node.arguments[0]));
      return bitcast(node.type.code, bits & constant(bits.type(), std::int64_t{0x7fff}));
    }
    std::vector<Expr> arguments;
    for (const Expr& argument : node.arguments) arguments.push_back(as_f32(argument));
    return rounded(node.type.code, Call::make(Type(DType::f32, node.type.lanes), node.callee, std::move(arguments)));
  }

  // Keeps narrow factors as they are when there is an instruction for them.
  Expr legal_dot(const Call& node, const Expr& self) {
    const Type left = node.arguments[1].type(), right = node.arguments[2].type();
    const std::uint32_t group = left.lanes / node.type.lanes;
    const bool has_instruction = node.type.is_vector() && find_dot(target_, node.type.code, left.code, right.code,
                                                                   node.type.lanes, group) != nullptr;
    if (!left.is_float() || has_instruction) return Mutator::mutate_node(node, self);
    const auto widened = [&](const Expr& factor) {
      return factor.type().is_narrow_float() ? as_f32(factor) : mutate(factor);
    };
    return Call::make(node.type, CallOp::dot,
                      {mutate(node.arguments[0]), widened(node.arguments[1]), widened(node.arguments[2])});
  }

  // Returns a value of a narrow type, not yet legal, as a legal float32.
  Expr as_f32(const Expr& value) {
    const auto* broadcast = value.as<Broadcast>();
    const auto* known = (broadcast != nullptr ? broadcast->value : value).as<FloatImm>();
    if (known != nullptr) return constant(Type(DType::f32, value.type().lanes), known->value);
    const Expr legal = mutate(value);
    if (converts_natively(value.type().code, target_)) return Cast::make(DType::f32, legal);
    const Expr bits = bitcast(DType::u16, legal);
    return value.type().code == DType::f16 ? f16_bits_to_f32(bits) : bf16_bits_to_f32(bits);
  }

  // Returns a legal float32 rounded to a narrow type.
  Expr rounded(DType to, const Expr& value) const {
    if (converts_natively(to, target_)) return Cast::make(to, value);
    return bitcast(to, to == DType::f16 ? f32_to_f16_bits(value) : f32_to_bf16_bits(value));
  }

  const Target& target_;
};

}  // namespace

bool converts_natively(DType type, const Target& target) {
  const Capabilities& can = target.capabilities;
  return (type == DType::f16 && can.f16_conversion) || (type == DType::bf16 && can.bf16_conversion);
}

bool computes_natively(DType type, const Target& target) {
  return type == DType::f16 && target.capabilities.f16_arithmetic;
}

Function legalize_floats(Function function, const Target& target) {
  function.body = Legalizer(target).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
