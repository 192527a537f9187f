// Rounding to bytes by additions alone gives what rounding, adding a zero point and limiting to a byte gives.
#include <doctest/doctest.h>

#include "ferry/lang/tensor.h"
#include "host/graph/kernels/quantizing.h"
#include "host/lang/library.h"
#include "host/lang/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace ferry::graph {
namespace {

using lang::Expr;

// Every half, and the floats beside it, farther than any byte is from a zero point; and floats of other sizes.
std::vector<float> reals() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kMost = std::numeric_limits<float>::max();
  std::vector<float> all = {kInfinity,      kMost,   0x1p22F, 0x1.7ffffep23F, 0x1.8p23F,
                            0x1.800002p23F, 0x1p24F, 3e9F,    0x1p-149F,      1e-20F};
  for (int half = 0; half < 1100; ++half) {
    const float middle = static_cast<float>(half) / 2;
    for (const float x : {std::nextafterf(middle, -kInfinity), middle, std::nextafterf(middle, kInfinity)})
      all.push_back(x);
  }
  const std::size_t positive = all.size();
  for (std::size_t i = 0; i < positive; ++i) all.push_back(-all[i]);
  return all;
}

template <class Byte>
void check_bytes(DType type, const std::vector<int>& zeros) {
  const std::vector<float> x = reals();
  const auto count = static_cast<std::int64_t>(x.size());
  for (const int zero : zeros) {
    CAPTURE(zero);
    const lang::Tensor in = lang::placeholder({Expr(count)}, DType::f32, "x");
    const lang::Tensor zero_point = lang::placeholder({}, DType::f32, "zero");
    const lang::Tensor out = lang::library::compute(
        {Expr(count)},
        [&](const std::vector<Expr>& i) {
          return rounded_byte(type, in(i), zero == 0 ? Expr() : zero_point(std::vector<Expr>{}));
        },
        "y");
    const lang::Program program = lang::make_program("bytes", {lang::in(in), lang::in(zero_point), lang::out(out)});
    const float stored = static_cast<float>(zero);
    const std::vector<const void*> arguments = {x.data(), &stored, nullptr};
    const std::vector<std::byte> bytes = lang::Reference(program, {}, arguments).evaluate_all(2);
    REQUIRE(bytes.size() == x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i]);
      const double least = std::numeric_limits<Byte>::min(), greatest = std::numeric_limits<Byte>::max();
      const double expected = std::clamp(std::nearbyint(double{x[i]}) + zero, least, greatest);
      Byte byte = 0;
      std::memcpy(&byte, &bytes[i], 1);
      CHECK(byte == static_cast<Byte>(expected));
    }
  }
}

TEST_CASE("rounding by additions gives the bytes of rounding, with every kind of zero point") {
  check_bytes<std::uint8_t>(DType::u8, {0, 1, 2, 127, 128, 254, 255});
  check_bytes<std::int8_t>(DType::i8, {-128, -127, -1, 0, 1, 2, 126, 127});
}

TEST_CASE("a cast of a rounded quotient and a zero point is quantization, and one of an unknown addend is not") {
  const auto input = [](std::size_t index) { return KernelOperand{KernelOperand::Kind::input, index}; };
  const auto node = [](std::size_t index) { return KernelOperand{KernelOperand::Kind::node, index}; };
  KernelKey key;
  key.inputs = {{}, {.is_constant = true}, {.is_constant = true, .is_zero_point = true}};
  key.nodes = {{Operator::div, {}, {input(0), input(1)}},
               {Operator::round, {}, {node(0)}},
               {Operator::add, {}, {input(2), node(1)}},
               {Operator::cast, CastAttributes{DType::u8}, {node(2)}}};
  const auto found = quantized_by(key, key.nodes.back());
  REQUIRE(found);
  CHECK(found->quotient == 0);
  CHECK(found->zero == 2);

  key.nodes.back().attributes = CastAttributes{DType::i16};
  CHECK_FALSE(quantized_by(key, key.nodes.back()));
  key.nodes.back().attributes = CastAttributes{DType::i8};
  CHECK(quantized_by(key, key.nodes.back()));
  key.inputs[2].is_zero_point = false;
  CHECK_FALSE(quantized_by(key, key.nodes.back()));

  key.nodes.back().operands = {node(1)};
  const auto without = quantized_by(key, key.nodes.back());
  REQUIRE(without);
  CHECK_FALSE(without->zero);
  key.inputs[1].is_constant = false;
  CHECK_FALSE(quantized_by(key, key.nodes.back()));
}

}  // namespace
}  // namespace ferry::graph
