#include "ferry/ops/reductions.h"

#include "ferry/ops/elementwise.h"
#include "ferry/ops/normalization.h"
#include "tests/unit/host/ops/evaluate.h"

#include <cmath>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

TEST_CASE("reductions over the last, the first, and all dimensions") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = input({m, n}, "A");
  const Image x = random_image({7, 13}, 1);
  const auto over_row = [&](std::int64_t i, double start, const std::function<double(double, double)>& combine) {
    for (std::int64_t j = 0; j < 13; ++j) start = combine(start, x({i, j}));
    return start;
  };
  const auto plus = [](double p, double q) { return p + q; };
  check_elements(evaluate(row_sum(a, "S"), {a}, {x}), {7}, [&](auto& i) { return over_row(i[0], 0, plus); });
  check_elements(evaluate(sum(a, {1}, "S", true), {a}, {x}), {7, 1}, [&](auto& i) { return over_row(i[0], 0, plus); });
  check_elements(evaluate(prod(a, {1}, "S"), {a}, {x}), {7},
                 [&](auto& i) { return over_row(i[0], 1, [](double p, double q) { return p * q; }); });
  check_elements(evaluate(max(a, {1}, "S"), {a}, {x}), {7},
                 [&](auto& i) { return over_row(i[0], -9, [](double p, double q) { return std::max(p, q); }); });
  check_elements(evaluate(min(a, {1}, "S"), {a}, {x}), {7},
                 [&](auto& i) { return over_row(i[0], 9, [](double p, double q) { return std::min(p, q); }); });
  check_elements(evaluate(mean(a, {1}, "S"), {a}, {x}), {7}, [&](auto& i) { return over_row(i[0], 0, plus) / 13; });
  check_elements(evaluate(sum(a, {0}, "S"), {a}, {x}), {13}, [&](auto& j) {
    double total = 0;
    for (std::int64_t i = 0; i < 7; ++i) total += x({i, j[0]});
    return total;
  });
  check_elements(evaluate(sum(a, {}, "S"), {a}, {x}), {}, [&](auto&) {
    double total = 0;
    for (std::int64_t i = 0; i < 7; ++i) total = over_row(i, total, plus);
    return total;
  });
  CHECK(refusal([&] { sum(a, {2}, "S"); }) == "'S': expected different dimensions of 'A' [m, n] to reduce");
}

TEST_CASE("softmax is stable along any dimension") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = input({m, n}, "A");
  Image x = random_image({5, 11}, 1);
  for (float& value : x.values) value = value * 100 + 200;
  for (const std::size_t dimension : {0, 1}) {
    check_elements(evaluate(softmax(a, dimension, "Y"), {a}, {x}), {5, 11}, [&](auto& i) {
      const std::int64_t count = dimension == 0 ? 5 : 11;
      const auto at = [&](std::int64_t k) { return dimension == 0 ? x({k, i[1]}) : x({i[0], k}); };
      double most = -1e30, total = 0;
      for (std::int64_t k = 0; k < count; ++k) most = std::max(most, at(k));
      for (std::int64_t k = 0; k < count; ++k) total += std::exp(at(k) - most);
      return std::exp(x({i[0], i[1]}) - most) / total;
    });
  }
}

TEST_CASE("batch_norm normalises each channel") {
  const Expr n = var("n"), c = var("c"), h = var("h"), w = var("w");
  const Tensor x = input({n, c, h, w}, "X"), gamma = input({c}, "G"), beta = input({c}, "B"), mu = input({c}, "M"),
               v = input({c}, "V");
  const Image image = random_image({2, 3, 5, 4}, 1), g = random_image({3}, 2), b = random_image({3}, 3),
              m = random_image({3}, 4);
  Image spread = random_image({3}, 5);
  for (float& value : spread.values) value = std::fabs(value) + 0.5f;
  const Tensor y = batch_norm(x, gamma, beta, mu, v, "Y");
  CHECK(lang::computed_tensors(lang::make_program("f", {lang::in(x), lang::in(gamma), lang::in(beta), lang::in(mu),
                                                        lang::in(v), lang::out(y)}))
            .size() == 5);
  check_elements(evaluate(y, {x, gamma, beta, mu, v}, {image, g, b, m, spread}), {2, 3, 5, 4}, [&](auto& i) {
    return (image({i[0], i[1], i[2], i[3]}) - m({i[1]})) / std::sqrt(spread({i[1]}) + 1e-5) * g({i[1]}) + b({i[1]});
  });
}

TEST_CASE("argmax and argmin are positions along the dimensions they go over") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = input({m, n}, "A");
  const Image x = random_image({7, 13}, 5);
  const auto as_float = [](const Tensor& places) { return cast(places, DType::f32, "F"); };
  const auto best = [&](std::int64_t count, bool greatest, const std::function<double(std::int64_t)>& at) {
    std::int64_t place = 0;
    for (std::int64_t k = 1; k < count; ++k) {
      if (greatest ? at(k) > at(place) : at(k) < at(place)) place = k;
    }
    return static_cast<double>(place);
  };
  check_elements(evaluate(as_float(argmax(a, {1}, "P")), {a}, {x}), {7},
                 [&](auto& i) { return best(13, true, [&](std::int64_t k) { return x({i[0], k}); }); });
  check_elements(evaluate(as_float(argmin(a, {0}, "P", true)), {a}, {x}), {1, 13},
                 [&](auto& i) { return best(7, false, [&](std::int64_t k) { return x({k, i[1]}); }); });
  check_elements(evaluate(as_float(argmax(a, {}, "P")), {a}, {x}), {},
                 [&](auto&) { return best(91, true, [&](std::int64_t k) { return x({k / 13, k % 13}); }); });
}

TEST_CASE("mean and variance along dimensions") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = input({m, n}, "A");
  Image x = random_image({7, 13}, 6);
  for (float& value : x.values) value += 50;
  const auto moment = [&](std::int64_t i, bool variance) {
    double sum = 0, squares = 0;
    for (std::int64_t j = 0; j < 13; ++j) sum += x({i, j});
    for (std::int64_t j = 0; j < 13; ++j) squares += std::pow(x({i, j}) - sum / 13, 2);
    return variance ? squares / 13 : sum / 13;
  };
  const Moments both = mean_variance(a, {1}, "Y", true);
  check_elements(evaluate(both.mean, {a}, {x}), {7, 1}, [&](auto& i) { return moment(i[0], false); });
  check_elements(evaluate(both.variance, {a}, {x}), {7, 1}, [&](auto& i) { return moment(i[0], true); }, 1e-4);
}

TEST_CASE("means of float16 do not end where its totals would") {
  constexpr std::int64_t kCount = 100'000;
  const Tensor a = lang::placeholder({kCount}, DType::f16, "A");
  const std::vector<std::uint16_t> values(kCount, f32_to_f16(1.5f));
  const Tensor average = mean(a, {0}, "M");
  const Moments moments = mean_variance(a, {0}, "V");
  for (const Tensor& result : {average, moments.mean, moments.variance}) {
    REQUIRE(result.dtype() == DType::f16);
    const lang::Program program = lang::make_program("f", {lang::in(a), lang::out(result)});
    const lang::Reference reference(program, {}, {values.data(), nullptr});
    CHECK(reference.evaluate(1, 0).real == (result.name() == moments.variance.name() ? 0 : 1.5));
  }
}
