#include "host/text/array_json.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace ferry;

TEST_CASE("floats have the digits of their own type, and keep what JSON has no number for") {
  const float floats[] = {0.1F, -2, 1e30F, std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::infinity()};
  CHECK(text::array_json(DType::f32, std::vector<std::int64_t>{5}, floats).dump() ==
        R"([0.1,-2.0,1e+30,"nan","-inf"])");
  const double doubles[] = {0.1, 1.0 / 3};
  CHECK(text::array_json(DType::f64, std::vector<std::int64_t>{2}, doubles).dump() == "[0.1,0.3333333333333333]");
  const std::uint16_t half = f64_to_f16(0.1);
  CHECK(text::array_json(DType::f16, {}, &half).dump() == "0.1");
}

TEST_CASE("integers are exact, bools are bools, and lists nest like the shape") {
  const std::uint64_t large[] = {~std::uint64_t{0}, 1};
  CHECK(text::array_json(DType::u64, std::vector<std::int64_t>{2}, large).dump() == "[18446744073709551615,1]");
  const std::int8_t small[] = {-1, 2, 3, 4, 5, 6};
  CHECK(text::array_json(DType::i8, std::vector<std::int64_t>{2, 3}, small).dump() == "[[-1,2,3],[4,5,6]]");
  const std::uint8_t bits[] = {1, 0};
  CHECK(text::array_json(DType::boolean, std::vector<std::int64_t>{2}, bits).dump() == "[true,false]");
  CHECK(text::array_json(DType::i8, std::vector<std::int64_t>{0, 3}, small).dump() == "[]");
  CHECK(text::array_json(DType::i8, std::vector<std::int64_t>{2, 0}, small).dump() == "[[],[]]");
}
