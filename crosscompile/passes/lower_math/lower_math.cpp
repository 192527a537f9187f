#include "crosscompile/passes/lower_math/lower_math.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/lower_math/functions.h"
#include "crosscompile/passes/lower_math/rounding.h"
#include "crosscompile/target/ptx.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ferry::passes {
namespace {

using namespace ir;
using math::Sequence;

struct Expansion {
  std::string_view name;
  Expr (*of_one)(Sequence&, const Expr&);
  Expr (*of_two)(Sequence&, const Expr&, const Expr&);
};

constexpr Expansion kExpansions[] = {
    {"exp", math::exp, nullptr},   {"exp2", math::exp2, nullptr},       {"expm1", math::expm1, nullptr},
    {"log", math::log, nullptr},   {"log2", math::log2, nullptr},       {"log1p", math::log1p, nullptr},
    {"sin", math::sin, nullptr},   {"cos", math::cos, nullptr},         {"tan", math::tan, nullptr},
    {"sinh", math::sinh, nullptr}, {"cosh", math::cosh, nullptr},       {"tanh", math::tanh, nullptr},
    {"asin", math::asin, nullptr}, {"acos", math::acos, nullptr},       {"atan", math::atan, nullptr},
    {"erf", math::erf, nullptr},   {"sigmoid", math::sigmoid, nullptr}, {"atan2", nullptr, math::atan2},
    {"pow", nullptr, math::pow},
};

bool is_rounding(std::string_view name) {
  return name == "floor" || name == "ceil" || name == "round" || name == "trunc";
}

class MathLowerer : public Mutator {
 public:
  explicit MathLowerer(const Target& target) : target_(target) {}

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Call& node, const Expr& self) override {
    const Expr inner = Mutator::mutate_node(node, self);
    const auto& call = *inner.as<Call>();
    Sequence sequence(target_, call.type.lanes);
    if (is_rounding(call.name) && call.type.is_float() && call.type.bits() >= 32 && !math::has_rounding(target_)) {
      const Expr x = sequence.let("x", call.arguments[0]);
      return sequence.finish(math::round_to_whole(sequence, call.name, x));
    }
    const auto* found = std::find_if(std::begin(kExpansions), std::end(kExpansions),
                                     [&](const Expansion& known) { return known.name == call.name; });
    if (call.type.code != DType::f32 || found == std::end(kExpansions)) return inner;
    std::vector<Expr> arguments;
    for (const Expr& argument : call.arguments) arguments.push_back(sequence.let("x", argument));
    return sequence.finish(found->of_one != nullptr ? found->of_one(sequence, arguments[0])
                                                    : found->of_two(sequence, arguments[0], arguments[1]));
  }

 private:
  const Target& target_;
};

}  // namespace

Function lower_math(Function function, const Target& target) {
  if (target.is_source || target.has(kLibdevice)) return function;
  function.body = MathLowerer(target).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
