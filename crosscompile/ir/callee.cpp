#include "crosscompile/ir/callee.h"

#include <algorithm>

namespace ferry::ir {

namespace {

constexpr MathSignature kMath[] = {
#define FERRY_MATH(name, arguments, kind) {#name, arguments, MathKind::kind},
#include "ferry/math.def"
#undef FERRY_MATH
};

}  // namespace

std::span<const MathSignature> math_functions() { return kMath; }

const MathSignature& signature_of(MathFunction function) { return kMath[static_cast<std::size_t>(function)]; }

std::optional<MathFunction> find_math(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kMath), std::end(kMath), [&](const MathSignature& known) { return known.name == name; });
  if (found == std::end(kMath)) return std::nullopt;
  return static_cast<MathFunction>(found - std::begin(kMath));
}

std::string to_text(const Callee& callee) {
  switch (callee.op) {
    case CallOp::math: return std::string(signature_of(callee.math).name);
    case CallOp::external:
    case CallOp::intrinsic: return callee.name;
#define FERRY_CASE(name) \
  case CallOp::name: return #name;
      FERRY_IR_OPERATIONS(FERRY_CASE)
#undef FERRY_CASE
  }
  return {};
}

}  // namespace ferry::ir
