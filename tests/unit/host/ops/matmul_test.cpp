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

TEST_CASE("products of batches broadcast, and vectors are rows and columns") {
  struct Case {
    std::vector<std::int64_t> a, b, result;
  };
  const std::vector<Case> cases = {
      {{2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6}},
      {{4, 5}, {3, 5, 6}, {3, 4, 6}},
      {{2, 1, 4, 5}, {3, 5, 6}, {2, 3, 4, 6}},
      {{5}, {3, 5, 6}, {3, 6}},
      {{2, 4, 5}, {5}, {2, 4}},
      {{5}, {5}, {}},
      {{4, 5}, {5, 6}, {4, 6}},
      {{1, 4, 5}, {3, 5, 6}, {3, 4, 6}},
  };
  for (const Case& c : cases) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        CAPTURE(c.a);
        CAPTURE(c.b);
        CAPTURE(ta);
        CAPTURE(tb);
        std::vector<std::int64_t> shape_a = c.a, shape_b = c.b;
        if (ta && shape_a.size() > 1) std::swap(shape_a[shape_a.size() - 1], shape_a[shape_a.size() - 2]);
        if (tb && shape_b.size() > 1) std::swap(shape_b[shape_b.size() - 1], shape_b[shape_b.size() - 2]);
        const Tensor a = input({shape_a.begin(), shape_a.end()}, "A"), b = input({shape_b.begin(), shape_b.end()}, "B");
        const Image x = random_image(shape_a, 1), y = random_image(shape_b, 2);
        // The element of a matrix of a batch that is repeated along dimensions of size 1, and along missing ones.
        const auto at = [](const Image& image, const std::vector<std::int64_t>& batch, std::int64_t row,
                           std::int64_t column) {
          const std::size_t rank = image.shape.size(), own = rank < 2 ? 0 : rank - 2;
          std::size_t place = 0;
          for (std::size_t d = 0; d < own; ++d) {
            const std::int64_t index = image.shape[d] == 1 ? 0 : batch[batch.size() - own + d];
            place = place * static_cast<std::size_t>(image.shape[d]) + static_cast<std::size_t>(index);
          }
          if (rank > 1) place = place * static_cast<std::size_t>(image.shape[rank - 2]) + static_cast<std::size_t>(row);
          place = place * static_cast<std::size_t>(image.shape[rank - 1]) + static_cast<std::size_t>(column);
          return static_cast<double>(image.values.at(place));
        };
        check_elements(evaluate(broadcast_matmul(a, b, "C", {ta, tb}), {a, b}, {x, y}), c.result, [&](auto& i) {
          std::vector<std::int64_t> batch(i.begin(), i.end());
          std::int64_t row = 0, column = 0;
          if (c.b.size() > 1) {
            column = batch.back();
            batch.pop_back();
          }
          if (c.a.size() > 1) {
            row = batch.back();
            batch.pop_back();
          }
          double total = 0;
          for (std::int64_t p = 0; p < 5; ++p) {
            const bool swap_a = ta && c.a.size() > 1, swap_b = tb || c.b.size() == 1;
            total += (swap_a ? at(x, batch, p, row) : at(x, batch, row, p)) *
                     (swap_b ? at(y, batch, column, p) : at(y, batch, p, column));
          }
          return total;
        });
      }
    }
  }
  CHECK(refusal([&] { broadcast_matmul(input({2, 3, 4}, "A"), input({3, 4, 5}, "B"), "C"); }) ==
        "'C': expected shapes that broadcast, got [2] and [3]");
  CHECK(refusal([&] { broadcast_matmul(input({2, 3, 4}, "A"), input({2, 3, 5}, "B"), "C"); }) ==
        "'C': expected the inner dimensions of 'A' and 'B' to be the same, got 4 and 3");
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
