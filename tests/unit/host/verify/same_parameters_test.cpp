#include "host/verify/same_parameters.h"

#include <doctest/doctest.h>

namespace ferry::verify {
namespace {

ParameterInfo tensor(const std::string& name, Direction direction, DType dtype = DType::f32, std::size_t rank = 1) {
  ParameterInfo info;
  info.name = name;
  info.kind = ParameterKind::tensor;
  info.dtype = dtype;
  info.direction = direction;
  info.shape.assign(rank, manifest_symbol(0));
  return info;
}

ParameterInfo number(const std::string& name, DType dtype) {
  ParameterInfo info;
  info.name = name;
  info.kind = ParameterKind::scalar;
  info.dtype = dtype;
  info.direction = Direction::in;
  return info;
}

FunctionInfo function(const std::string& name, std::vector<ParameterInfo> parameters) {
  FunctionInfo info;
  info.name = name;
  info.symbols = {"n"};
  info.parameters = std::move(parameters);
  return info;
}

std::string refusal(const FunctionInfo& a, const FunctionInfo& b) {
  const Result<ParameterPairs> pairs = pair_parameters(a, b);
  CHECK(!pairs.is_ok());
  return pairs.status().message();
}

TEST_CASE("sizes that one function takes as numbers are left aside, wherever they stand") {
  const FunctionInfo plain = function("f", {tensor("x", Direction::in), tensor("y", Direction::out)});
  const FunctionInfo sized =
      function("g", {number("n", DType::i64), tensor("a", Direction::in), tensor("b", Direction::out)});
  const Result<ParameterPairs> pairs = pair_parameters(plain, sized);
  REQUIRE(pairs.is_ok());
  CHECK(pairs.value() == ParameterPairs{{0, 1}, {1, 2}});
}

TEST_CASE("parameters that do not fit are named with their types") {
  const FunctionInfo a = function("f", {tensor("x", Direction::in), tensor("y", Direction::out)});
  CHECK(refusal(a, function("g", {tensor("x", Direction::in, DType::f64), tensor("y", Direction::out)})) ==
        "f takes in f32[n] x where g takes in f64[n] x");
  CHECK(refusal(a, function("g", {tensor("x", Direction::in), tensor("y", Direction::inout)})) ==
        "f takes out f32[n] y where g takes inout f32[n] y");
  CHECK(refusal(a, function("g", {tensor("x", Direction::in, DType::f32, 2), tensor("y", Direction::out)})) ==
        "f takes in f32[n] x where g takes in f32[n,n] x");
  CHECK(refusal(a, function("g", {number("a", DType::f32), tensor("y", Direction::out)})) ==
        "f takes in f32[n] x where g takes f32 a");
  CHECK(refusal(a, function("g", {tensor("x", Direction::in)})) == "f takes 2 arguments beside sizes, g takes 1");
}

}  // namespace
}  // namespace ferry::verify
