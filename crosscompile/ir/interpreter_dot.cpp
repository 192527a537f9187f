// Evaluates CallOp::dot, one lane of the sum at a time.
#include "crosscompile/ir/interpreter_code.h"

namespace ferry::ir::interp {
namespace {

template <DType Sum, DType Left, DType Right>
struct DotCode final : Code {
  CodePtr sum, left, right;
  std::uint32_t group;
  DotCode(std::vector<CodePtr>& arguments, std::uint32_t products)
      : sum(std::move(arguments[0])), left(std::move(arguments[1])), right(std::move(arguments[2])), group(products) {}

  Value eval(Frame& frame, std::uint32_t lane) const override {
    if constexpr (is_float(Sum)) {
      auto total = Element<Sum>::get(sum->eval(frame, lane));
      for (std::uint32_t at = lane * group; at < (lane + 1) * group; ++at) {
        total += Element<Left>::get(left->eval(frame, at)) * Element<Right>::get(right->eval(frame, at));
      }
      return Element<Sum>::put(total);
    } else {
      auto total = static_cast<std::uint64_t>(Element<Sum>::get(sum->eval(frame, lane)));
      for (std::uint32_t at = lane * group; at < (lane + 1) * group; ++at) {
        total += static_cast<std::uint64_t>(Element<Left>::get(left->eval(frame, at))) *
                 static_cast<std::uint64_t>(Element<Right>::get(right->eval(frame, at)));
      }
      return Element<Sum>::put(static_cast<typename Element<Sum>::Compute>(total));
    }
  }
};

template <DType Sum>
CodePtr with_sum(const Call& node, std::vector<CodePtr>& arguments) {
  const std::uint32_t group = node.arguments[1].type().lanes / node.type.lanes;
  return with_dtype(node.arguments[1].type().code, [&](auto left) {
    return with_dtype(node.arguments[2].type().code, [&](auto right) -> CodePtr {
      constexpr DType kLeft = decltype(left)::value, kRight = decltype(right)::value;
      if constexpr (is_float(kLeft) == is_float(Sum) && is_float(kRight) == is_float(Sum)) {
        return std::make_unique<DotCode<Sum, kLeft, kRight>>(arguments, group);
      } else {
        return nullptr;
      }
    });
  });
}

}  // namespace

CodePtr compile_dot(const Call& node, std::vector<CodePtr> arguments) {
  return node.type.is_float() ? with_sum<DType::f32>(node, arguments) : with_sum<DType::i32>(node, arguments);
}

}  // namespace ferry::ir::interp
