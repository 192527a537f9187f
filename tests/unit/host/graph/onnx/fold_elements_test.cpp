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
