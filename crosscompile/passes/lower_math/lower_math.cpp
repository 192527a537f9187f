#include "crosscompile/passes/lower_math/lower_math.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/lower_math/functions.h"
#include "crosscompile/passes/lower_math/rounding.h"

namespace ferry::passes {
namespace {

using namespace ir;
using math::Sequence;

// The expansion of a function of one float32 or of two; neither for functions that code generation emits itself.
struct Expansion {
  Expr (*of_one)(Sequence&, const Expr&) = nullptr;
  Expr (*of_two)(Sequence&, const Expr&, const Expr&) = nullptr;
};

Expansion expansion_of(MathFunction function) {
  switch (function) {
    case MathFunction::exp: return {.of_one = math::exp};
    case MathFunction::exp2: return {.of_one = math::exp2};
    case MathFunction::expm1: return {.of_one = math::expm1};
    case MathFunction::log: return {.of_one = math::log};
    case MathFunction::log2: return {.of_one = math::log2};
    case MathFunction::log1p: return {.of_one = math::log1p};
    case MathFunction::sin: return {.of_one = math::sin};
    case MathFunction::cos: return {.of_one = math::cos};
    case MathFunction::tan: return {.of_one = math::tan};
    case MathFunction::sinh: return {.of_one = math::sinh};
    case MathFunction::cosh: return {.of_one = math::cosh};
    case MathFunction::tanh: return {.of_one = math::tanh};
    case MathFunction::asin: return {.of_one = math::asin};
    case MathFunction::acos: return {.of_one = math::acos};
    case MathFunction::atan: return {.of_one = math::atan};
    case MathFunction::erf: return {.of_one = math::erf};
    case MathFunction::sigmoid: return {.of_one = math::sigmoid};
    case MathFunction::atan2: return {.of_two = math::atan2};
    case MathFunction::pow: return {.of_two = math::pow};
    case MathFunction::abs:
    case MathFunction::sqrt:
    case MathFunction::rsqrt:
    case MathFunction::fmod:
    case MathFunction::floor:
    case MathFunction::ceil:
    case MathFunction::round:
    case MathFunction::round_even:
    case MathFunction::trunc:
    case MathFunction::fma:
    case MathFunction::popcount:
    case MathFunction::clz: return {};
  }
  throw InternalError("lower_math: unknown function");
}

bool exists(const Expansion& expansion) { return expansion.of_one != nullptr || expansion.of_two != nullptr; }

bool is_rounding(MathFunction function) {
  return function == MathFunction::floor || function == MathFunction::ceil || function == MathFunction::round ||
         function == MathFunction::round_even || function == MathFunction::trunc;
}

class MathLowerer : public Mutator {
 public:
  explicit MathLowerer(const Target& target) : target_(target) {}

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Call& node, const Expr& self) override {
    const Expr inner = Mutator::mutate_node(node, self);
    const auto& call = *inner.as<Call>();
    if (call.callee.op != CallOp::math) return inner;
    const MathFunction function = call.callee.math;
    Sequence sequence(target_, call.type.lanes);
    if (is_rounding(function) && call.type.is_float() && call.type.bits() >= 32 && !target_.capabilities.rounding) {
      const Expr x = sequence.let("x", call.arguments[0]);
      return sequence.finish(math::round_to_whole(sequence, function, x));
    }
    const Expansion found = expansion_of(function);
    if (call.type.code != DType::f32 || !exists(found)) return inner;
    std::vector<Expr> arguments;
    for (const Expr& argument : call.arguments) arguments.push_back(sequence.let("x", argument));
    return sequence.finish(found.of_one != nullptr ? found.of_one(sequence, arguments[0])
                                                   : found.of_two(sequence, arguments[0], arguments[1]));
  }

 private:
  const Target& target_;
};

}  // namespace

Function lower_math(Function function, const Target& target) {
  if (target.capabilities.math_library) return function;
  function.body = MathLowerer(target).mutate(function.body);
  return function;
}

bool is_expanded(const Call& call, const Target& target) {
  return !target.capabilities.math_library && call.callee.op == CallOp::math &&
         (call.type.code == DType::f32 || call.type.is_narrow_float()) && exists(expansion_of(call.callee.math));
}

}  // namespace ferry::passes
