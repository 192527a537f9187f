#include "ferry/ops/matmul.h"

#include "tests/unit/host/ops/evaluate.h"

using namespace ferry;
using namespace ferry::ops;
using lang::var;

TEST_CASE("matrix products, with either side transposed") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      CAPTURE(ta);
      CAPTURE(tb);
      const Tensor a = ta ? input({k, m}, "A") : input({m, k}, "A"), b = tb ? input({n, k}, "B") : input({k, n}, "B");
      const Image x = random_image(ta ? std::vector<std::int64_t>{9, 5} : std::vector<std::int64_t>{5, 9}, 1);
      const Image y = random_image(tb ? std::vector<std::int64_t>{7, 9} : std::vector<std::int64_t>{9, 7}, 2);
      check_elements(evaluate(matmul(a, b, "C", {ta, tb}), {a, b}, {x, y}), {5, 7}, [&](auto& i) {
        double total = 0;
        for (std::int64_t p = 0; p < 9; ++p)
          total += (ta ? x({p, i[0]}) : x({i[0], p})) * (tb ? y({i[1], p}) : y({p, i[1]}));
        return total;
      });
    }
  }
}

TEST_CASE("a batch of matrix products") {
  const Expr s = var("s"), m = var("m"), n = var("n"), k = var("k");
  const Tensor a = input({s, m, k}, "A"), b = input({s, k, n}, "B");
  const Image x = random_image({3, 4, 5}, 1), y = random_image({3, 5, 2}, 2);
  check_elements(evaluate(batch_matmul(a, b, "C"), {a, b}, {x, y}), {3, 4, 2}, [&](auto& i) {
    double total = 0;
    for (std::int64_t p = 0; p < 5; ++p) total += x({i[0], i[1], p}) * y({i[0], p, i[2]});
    return total;
  });
}

TEST_CASE("dense adds a bias to each row") {
  const Expr n = var("n"), c = var("c"), o = var("o");
  const Tensor x = input({n, c}, "X"), w = input({o, c}, "W"), b = input({o}, "B");
  const Image in = random_image({3, 11}, 1), weights = random_image({5, 11}, 2), bias = random_image({5}, 3);
  const auto product = [&](std::int64_t i, std::int64_t j) {
    double total = 0;
    for (std::int64_t p = 0; p < 11; ++p) total += in({i, p}) * weights({j, p});
    return total;
  };
  check_elements(evaluate(dense(x, w, b, "Y"), {x, w, b}, {in, weights, bias}), {3, 5},
                 [&](auto& i) { return product(i[0], i[1]) + bias({i[1]}); });
  check_elements(evaluate(dense(x, w, {}, "Y"), {x, w}, {in, weights}), {3, 5},
                 [&](auto& i) { return product(i[0], i[1]); });
}

TEST_CASE("matrices that do not fit are refused") {
  const Expr m = var("m"), k = var("k"), q = var("q");
  CHECK(refusal([&] { matmul(input({m, k}, "A"), input({q, m}, "B"), "C"); }) ==
        "'C': expected the inner dimensions of 'A' and 'B' to be the same, got k and q");
  CHECK(refusal([&] { matmul(input({m}, "A"), input({m, m}, "B"), "C"); }) ==
        "'C': expected 'A' to have 2 dimensions, got [m]");
}
