// Tests of operators at the limits of their types, where ONNX's own tests have no cases.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/unit/host/graph/onnx/computed.h"

namespace ferry::test {
namespace {

constexpr std::int64_t kFloat16 = 10, kMost = std::numeric_limits<std::int64_t>::max();

double function_of(const char* op, std::int64_t type, double x) {
  ModelBytes model;
  model.input("x", {1}, kDouble).node("Cast", {"x"}, {"a"}, {attribute("to", type)}).node(op, {"a"}, {"b"});
  model.node("Cast", {"b"}, {"y"}, {attribute("to", kDouble + 0)}).output("y");
  return computed<double>(model, std::vector<double>{x}).at(0);
}

doctest::Approx near(double value, double epsilon) { return doctest::Approx(value).epsilon(epsilon); }

TEST_CASE("inverse hyperbolic functions are accurate to their type where squares overflow or differences cancel") {
  for (const double x : {0.25, 255.0, 300.0, 3000.0, 60000.0}) {
    CHECK(function_of("Asinh", kFloat16, x) == near(std::asinh(x), 1e-3));
    CHECK(function_of("Asinh", kFloat16, -x) == near(std::asinh(-x), 1e-3));
    CHECK(function_of("Asinh", kFloat, x) == near(std::asinh(x), 1e-6));
    CHECK(function_of("Asinh", kDouble, x) == near(std::asinh(x), 1e-14));
    if (x < 1) continue;
    CHECK(function_of("Acosh", kFloat16, x) == near(std::acosh(x), 1e-3));
    CHECK(function_of("Acosh", kFloat, x) == near(std::acosh(x), 1e-6));
    CHECK(function_of("Acosh", kDouble, x) == near(std::acosh(x), 1e-14));
  }
  CHECK(function_of("Asinh", kDouble, 1e300) == near(std::asinh(1e300), 1e-14));
  for (const float x : {0.5F, 0.99F, 0.999999F}) {
    CHECK(function_of("Atanh", kFloat, x) == near(std::atanh(double{x}), 1e-6));
    CHECK(function_of("Atanh", kFloat, -x) == near(std::atanh(-double{x}), 1e-6));
  }
  CHECK(function_of("Atanh", kFloat, -1) == -INFINITY);
}

TEST_CASE("sizes are the numbers of the call where they are computed with") {
  ModelBytes model;
  model.input("x", {"N", 2}).initializer(tensor("five", kInt64, {}, raw<std::int64_t>({5})));
  model.node("Shape", {"x"}, {"s"}).node("Sub", {"s", "five"}, {"less"}).node("Abs", {"less"}, {"y"}).output("y");
  for (const std::int64_t n : {1, 5, 9}) {
    const std::vector<float> x(static_cast<std::size_t>(2 * n));
    CHECK(computed<std::int64_t>(model, x, {{"N", n}}) == std::vector<std::int64_t>{std::abs(n - 5), 3});
  }
}

TEST_CASE("a diagonal beyond the matrix leaves nothing of its upper triangle") {
  for (const Dim& rows : {Dim(2), Dim("N")}) {
    ModelBytes model;
    model.input("x", {rows, 2}).initializer(tensor("k", kInt64, {}, raw<std::int64_t>({kMost})));
    model.node("Trilu", {"x", "k"}, {"y"}).output("y");
    CHECK(computed<float>(model, std::vector<float>{1, 2, 3, 4}, {{"N", 2}}) == std::vector<float>{0, 0, 0, 0});
  }
}

TEST_CASE("a diagonal of ones may be anywhere in the matrix, or beyond it") {
  const auto eye = [](std::int64_t k) {
    ModelBytes model;
    model.input("x", {2, 2}).node("EyeLike", {"x"}, {"e"}, {attribute("k", k)}).node("Add", {"x", "e"}, {"y"});
    return computed<float>(model.output("y"), std::vector<float>{0, 0, 0, 0});
  };
  CHECK(eye(0) == std::vector<float>{1, 0, 0, 1});
  CHECK(eye(1) == std::vector<float>{0, 1, 0, 0});
  CHECK(eye(-1) == std::vector<float>{0, 0, 1, 0});
  CHECK(eye(kMost) == std::vector<float>{0, 0, 0, 0});
  CHECK(eye(-kMost - 1) == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("ranges of integers are exact") {
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t delta) {
    const auto number = [](const char* name, std::int64_t value) {
      return tensor(name, kInt64, {}, raw<std::int64_t>({value}));
    };
    ModelBytes model;
    model.input("x", {1}, kInt64).initializer(number("start", start)).initializer(number("limit", limit));
    model.initializer(number("delta", delta)).node("Range", {"start", "limit", "delta"}, {"r"});
    return computed<std::int64_t>(model.node("Add", {"r", "x"}, {"y"}).output("y"), Sizes{0});
  };
  const std::int64_t large = std::int64_t{1} << 53;
  CHECK(range(large, large + 4, 1) == Sizes{large, large + 1, large + 2, large + 3});
  CHECK(range(5, 0, -2) == Sizes{5, 3, 1});
  CHECK(range(-kMost - 1, kMost, kMost) == Sizes{-kMost - 1, -1, kMost - 1});
  CHECK(range(kMost, -kMost - 1, -kMost - 1) == Sizes{kMost, -1});
  const Sizes many = range(large + 1, large + 4001, 2);
  REQUIRE(many.size() == 2000);
  CHECK(many.back() == large + 3999);
}

TEST_CASE("attention to a window without a limit is attention to all keys") {
  const auto attention = [](const std::vector<Proto>& attributes) {
    ModelBytes model;
    model.opset = 25;
    model.input("q", {1, 1, 2, 1}).node("Attention", {"q", "q", "q"}, {"y"}, attributes, "n").output("y");
    return computed<float>(model, std::vector<float>{1, 2});
  };
  const std::vector<float> all = attention({});
  CHECK(all.at(0) > 1);
  CHECK(attention({attribute("left_window_size", kMost), attribute("right_window_size", kMost)}) == all);
}

TEST_CASE("the index of a negative maximum is not that of padding") {
  constexpr std::int64_t kInt8 = 3;
  ModelBytes model;
  model.input("x", {1, 1, 2}, kInt8);
  model.node("MaxPool", {"x"}, {"v", "y"}, {attribute("kernel_shape", {2}), attribute("pads", {1, 1})}).output("y");
  CHECK(computed<std::int64_t>(model, std::vector<std::int8_t>{-5, -3}) == Sizes{0, 1, 1});
}

TEST_CASE("activations take their parameters in the order of the functions that have them") {
  const auto ones = [](const char* name) { return tensor(name, kFloat, {2, 1, 1}, raw<float>({1, 1})); };
  const Proto activations = Proto().bytes(1, "activations").bytes(9, "Tanh").bytes(9, "LeakyRelu").number(20, 8);
  ModelBytes model;
  model.input("x", {1, 1, 1}).initializer(ones("w")).initializer(ones("r"));
  model.node("RNN", {"x", "w", "r"}, {"y"},
             {activations, Proto().bytes(1, "activation_alpha").real(7, 0.1F).number(20, 6),
              attribute("direction", "bidirectional")});
  const std::vector<float> y = computed<float>(model.output("y"), std::vector<float>{-1});
  CHECK(y.at(0) == near(std::tanh(-1.0), 1e-6));
  CHECK(y.at(1) == near(-0.1, 1e-6));
}

}  // namespace
}  // namespace ferry::test
