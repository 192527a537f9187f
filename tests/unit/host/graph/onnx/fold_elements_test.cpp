// Tests what operators make of elements that are known when a network is imported.
#include "host/graph/onnx/fold_elements.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <variant>

using namespace ferry;
using namespace ferry::graph;
using namespace ferry::graph::onnx;

TEST_CASE("64-bit integers beside the middle of two floats are rounded once") {
  const auto as_float = [](std::int64_t value) {
    const std::array<Element, 1> operand{Element(Size(value))};
    return std::get<double>(fold_element(Operator::cast, operand, DType::i64, DType::f32).value());
  };
  constexpr std::int64_t kPower = std::int64_t{1} << 60, kHalf = std::int64_t{1} << 36;
  CHECK(as_float(kPower + kHalf) == 0x1p60);
  CHECK(as_float(kPower + kHalf + 1) == 0x1p60 + 0x1p37);
  CHECK(as_float(-(kPower + kHalf + 1)) == -(0x1p60 + 0x1p37));
  CHECK(as_float(kPower + 3 * kHalf - 1) == 0x1p60 + 0x1p37);
  CHECK(as_float(kPower + 3 * kHalf) == 0x1p60 + 0x1p38);
}

TEST_CASE("floats that depend on sizes are quotients as long as they are exact") {
  const Size h = Size::symbol("H");
  const auto folded = [](Operator op, const Element& a, const Element& b) {
    const std::array<Element, 2> operands{a, b};
    return fold_element(op, operands, DType::f32, DType::f32);
  };
  const auto is = [](const std::optional<Element>& element, const Size& numerator, std::int64_t denominator) {
    const auto& ratio = std::get<Ratio>(element.value());
    return ratio.numerator == numerator && ratio.denominator == denominator;
  };
  const Element height = Ratio{h}, third = Ratio{h, 3};
  CHECK(is(folded(Operator::div, height, 32.0), h, 32));
  CHECK(is(folded(Operator::mul, height, 0.75), h * 3, 4));
  CHECK(is(folded(Operator::mul, third, 6.0), h * 2, 1));
  CHECK(is(folded(Operator::add, third, 0.5), h * 2 + 3, 6));
  CHECK(is(folded(Operator::sub, 1.0, height), Size(1) - h, 1));
  CHECK(std::get<double>(folded(Operator::div, Ratio{h * 2}, height).value()) == 2);
  // No float32 is 0.1, and floor() of its product with 10 would not be certain.
  CHECK(!folded(Operator::mul, height, 0.1F));
  CHECK(!folded(Operator::div, height, Ratio{Size::symbol("W")}));
  CHECK(!folded(Operator::div, height, 0.0));
  const auto cast = [&](Operator op, const Ratio& ratio) {
    const std::array<Element, 1> operand{Element(ratio)};
    const std::array<Element, 1> whole{fold_element(op, operand, DType::f32, DType::f32).value()};
    return std::get<Size>(fold_element(Operator::cast, whole, DType::f32, DType::i64).value());
  };
  CHECK(cast(Operator::ceil, {h, 32}) == floor_divide(h + 31, 32));
  CHECK(cast(Operator::floor, {h * 2, 5}) == floor_divide(h * 2, 5));
  CHECK(cast(Operator::neg, {h, 2}) == Size(0) - floor_divide(h, 2));
}

TEST_CASE("quotients and remainders of sizes are rounded as those of numbers") {
  const Size n = Size::symbol("N");
  const auto folded = [](Operator op, const Size& a, const Size& b) {
    const std::array<Element, 2> operands{a, b};
    return std::get<Size>(fold_element(op, operands, DType::i64, DType::i64).value());
  };
  for (const std::int64_t value : {1, 2, 3, 4, 5, 9, 31, 32, 33}) {
    const std::int64_t shifted = value - 4;
    CHECK(substitute(folded(Operator::div, n - 4, 3), "N", value).constant() == shifted / 3);
    CHECK(substitute(folded(Operator::modulo, n - 4, 3), "N", value).constant() == (shifted % 3 + 3) % 3);
    CHECK(substitute(folded(Operator::remainder, n, 3), "N", value).constant() == value % 3);
  }
}
