#include "ferry/ops/elementwise.h"

#include "tests/unit/host/ops/evaluate.h"

#include <cmath>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

TEST_CASE("tensors of one shape work element by element") {
  const Expr n = var("n");
  const Tensor a = input({n}, "A"), b = input({n}, "B");
  const Image x = random_image({37}, 1), y = random_image({37}, 2);
  const auto check = [&](const Tensor& c, const std::function<double(double, double)>& expected) {
    check_elements(evaluate(c, {a, b}, {x, y}), {37}, [&](auto& i) { return expected(x({i[0]}), y({i[0]})); });
  };
  check(add(a, b, "C"), [](double p, double q) { return p + q; });
  check(sub(a, b, "C"), [](double p, double q) { return p - q; });
  check(mul(a, b, "C"), [](double p, double q) { return p * q; });
  check(div(a, b, "C"), [](double p, double q) { return p / q; });
  check(max(a, b, "C"), [](double p, double q) { return std::max(p, q); });
  check(min(a, b, "C"), [](double p, double q) { return std::min(p, q); });
  check(pow(map(
                a, [](const Expr& v) { return ir::call_math("abs", {v}); }, "P"),
            b, "C"),
        [](double p, double q) { return std::pow(std::fabs(p), q); });
}

TEST_CASE("dimensions of size 1 and missing dimensions are repeated") {
  const Expr m = var("m"), n = var("n");
  const Image x = random_image({5, 1}, 1), y = random_image({5, 7}, 2), row = random_image({1, 7}, 3),
              flat = random_image({7}, 4);
  const Tensor a = input({m, 1}, "A"), b = input({m, n}, "B"), r = input({1, n}, "R"), f = input({n}, "F");
  check_elements(evaluate(add(a, b, "C"), {a, b}, {x, y}), {5, 7},
                 [&](auto& i) { return x({i[0], 0}) + y({i[0], i[1]}); });
  check_elements(evaluate(mul(a, r, "C"), {a, r}, {x, row}), {5, 7},
                 [&](auto& i) { return x({i[0], 0}) * row({0, i[1]}); });
  check_elements(evaluate(max(b, f, "C"), {b, f}, {y, flat}), {5, 7},
                 [&](auto& i) { return std::max(y({i[0], i[1]}), flat({i[1]})); });
  check_elements(evaluate(sub(f, b, "C"), {f, b}, {flat, y}), {5, 7},
                 [&](auto& i) { return flat({i[1]}) - y({i[0], i[1]}); });
}

TEST_CASE("a scalar tensor broadcasts to four dimensions") {
  const Tensor a = input({2, 3, 1, 5}, "A"), s = input({}, "S");
  const Image x = random_image({2, 3, 1, 5}, 1), one = random_image({}, 2);
  check_elements(evaluate(mul(s, a, "C"), {s, a}, {one, x}), {2, 3, 1, 5},
                 [&](auto& i) { return one({}) * x({i[0], i[1], i[2], i[3]}); });
}

TEST_CASE("shapes that do not broadcast are refused") {
  const Expr m = var("m"), n = var("n");
  CHECK(refusal([&] { add(input({4, 3}, "A"), input({4, 2}, "B"), "C"); }) ==
        "'C': expected shapes that broadcast, got [4, 3] and [4, 2]");
  CHECK(refusal([&] { add(input({n, 3}, "A"), input({m, 1}, "B"), "C"); }) ==
        "'C': expected shapes that broadcast, got [n, 3] and [m, 1]");
}

TEST_CASE("functions of one argument are what their names say") {
  const Expr n = var("n");
  const Tensor a = input({n}, "A");
  const Image x = random_image({41}, 1);
  const auto check = [&](const Tensor& c, const std::function<double(double)>& expected) {
    check_elements(evaluate(c, {a}, {x}), {41}, [&](auto& i) { return expected(x({i[0]})); });
  };
  check(relu(a, "B"), [](double v) { return std::max(v, 0.0); });
  check(sigmoid(a, "B"), [](double v) { return 1 / (1 + std::exp(-v)); });
  check(ops::tanh(a, "B"), [](double v) { return std::tanh(v); });
  check(unary(a, "exp", "B"), [](double v) { return std::exp(v); });
  check(unary(a, "abs", "B"), [](double v) { return std::fabs(v); });
}

TEST_CASE("gelu weighs each value by how likely a normal one is below it") {
  const Tensor a = input({var("n")}, "A");
  const Image x = random_image({33}, 1);
  check_elements(evaluate(gelu(a, "B"), {a}, {x}), {33},
                 [&](auto& i) { return x({i[0]}) * std::erfc(-x({i[0]}) / std::sqrt(2.0)) / 2; });
}
