#include "ferry/ops/shapes.h"

#include "tests/unit/host/ops/evaluate.h"

using namespace ferry;
using namespace ferry::ops;
using lang::var;

TEST_CASE("transpose reverses the dimensions, or puts them in the order it is given") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = input({m, n}, "A"), b = input({m, n, k}, "B");
  const Image x = random_image({5, 3}, 1), y = random_image({2, 3, 5}, 2);
  check_elements(evaluate(transpose(a, "T"), {a}, {x}), {3, 5}, [&](auto& i) { return x({i[1], i[0]}); });
  check_elements(evaluate(transpose(b, "T", {2, 0, 1}), {b}, {y}), {5, 2, 3},
                 [&](auto& i) { return y({i[1], i[2], i[0]}); });
  CHECK(refusal([&] { transpose(b, "T", {0, 1}); }) ==
        "'T': expected a place for each dimension of 'B' [m, n, k], got 2");
  CHECK(refusal([&] { transpose(b, "T", {0, 1, 1}); }) == "'T': expected every dimension once in the order");
}

TEST_CASE("reshape keeps the order in memory") {
  const Expr m = var("m"), n = var("n"), p = var("p");
  const Tensor a = input({m, n}, "A");
  const Image x = random_image({6, 10}, 1);
  check_elements(evaluate(reshape(a, {m * n}, "B"), {a}, {x}), {60},
                 [&](auto& i) { return x({i[0] / 10, i[0] % 10}); });
  check_elements(evaluate(reshape(a, {p, m * n / p}, "B"), {a}, {x}, {{p, 4}}), {4, 15},
                 [&](auto& i) { return x({(i[0] * 15 + i[1]) / 10, (i[0] * 15 + i[1]) % 10}); });
  CHECK(refusal([&] { reshape(input({4, 6}, "A"), {5, 5}, "B"); }) == "'B': expected a shape of 24 elements, got 25");
}

TEST_CASE("a slice begins and steps as it is told, by arguments too") {
  const Expr n = var("n"), b = var("b"), s = var("s");
  const Tensor a = input({n}, "A");
  const Image x = random_image({23}, 1);
  check_elements(evaluate(slice(a, {b}, {s}, {(n - b) / s}, "B"), {a}, {x}, {{b, 2}, {s, 3}}), {7},
                 [&](auto& i) { return x({2 + 3 * i[0]}); });
}

TEST_CASE("padding stands around the values, of any rank") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = input({m, n}, "A");
  const Image x = random_image({3, 4}, 1);
  check_elements(evaluate(pad(a, {1, 0}, {2, 3}, "B", Expr(7)), {a}, {x}), {6, 7}, [&](auto& i) {
    const bool inside = i[0] >= 1 && i[0] < 4 && i[1] < 4;
    return inside ? x({i[0] - 1, i[1]}) : 7.0;
  });
  check_elements(evaluate(pad(a, {0, 0}, {0, 0}, "B"), {a}, {x}), {3, 4}, [&](auto& i) { return x({i[0], i[1]}); });
}

TEST_CASE("tril keeps the lower triangle") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = input({2, m, n}, "A");
  const Image x = random_image({2, 5, 4}, 1);
  const Tensor t = tril(a, "B");
  const Image got = evaluate(t, {a}, {x});
  check_elements(got, {2, 5, 4}, [&](auto& i) { return i[1] >= i[2] ? x({i[0], i[1], i[2]}) : 0.0; });
}

TEST_CASE("concat puts tensors one behind the other along a dimension") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = input({m, n}, "A"), b = input({m, k}, "B"), c = input({m, n}, "C");
  const Image x = random_image({2, 3}, 1), y = random_image({2, 5}, 2), z = random_image({2, 3}, 3);
  check_elements(evaluate(concat({a, b}, 1, "Y"), {a, b}, {x, y}), {2, 8},
                 [&](auto& i) { return i[1] < 3 ? x({i[0], i[1]}) : y({i[0], i[1] - 3}); });
  check_elements(evaluate(concat({a, c, a}, 0, "Y"), {a, c}, {x, z}), {6, 3},
                 [&](auto& i) { return i[0] / 2 == 1 ? z({i[0] - 2, i[1]}) : x({i[0] % 2, i[1]}); });
  check_elements(evaluate(concat({a}, 1, "Y"), {a}, {x}), {2, 3}, [&](auto& i) { return x({i[0], i[1]}); });
}

TEST_CASE("concat refuses parts that do not stand in one row") {
  const Tensor a = input({2, 3}, "A"), whole = lang::placeholder({2, 3}, DType::i32, "W");
  CHECK(refusal([&] { concat({}, 0, "Y"); }) == "'Y': expected at least one tensor to concatenate");
  CHECK(refusal([&] { concat({a}, 2, "Y"); }) == "'Y': expected a dimension of 'A' [2, 3], got 2");
  CHECK(refusal([&] { concat({a, input({4, 3}, "B")}, 1, "Y"); }) ==
        "'Y': expected dimension 0 of 'A' and 'B' to be the same, got 2 and 4");
  CHECK(refusal([&] { concat({a, input({4}, "B")}, 1, "Y"); }) == "'Y': expected 'B' to have 2 dimensions, got [4]");
  CHECK(refusal([&] { concat({a, whole}, 1, "Y"); }) == "'Y': expected 'W' to have the type f32, got i32");
}
