#include "ferry/ops/normalization.h"

#include "tests/unit/host/ops/evaluate.h"

#include <cmath>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

TEST_CASE("layer_norm gives its last dimensions mean 0 and variance 1, then scales and shifts them") {
  const lang::Expr n = var("n"), c = var("c");
  const Tensor x = input({n, 3, c}, "X"), gamma = input({3, c}, "G"), beta = input({3, c}, "B");
  const Image image = random_image({2, 3, 7}, 1), scale = random_image({3, 7}, 2), shift = random_image({3, 7}, 3);
  check_elements(evaluate(layer_norm(x, gamma, beta, "Y", 1e-3), {x, gamma, beta}, {image, scale, shift}), {2, 3, 7},
                 [&](auto& i) {
                   double sum = 0, squares = 0;
                   for (std::int64_t k = 0; k < 21; ++k) sum += image({i[0], k / 7, k % 7});
                   for (std::int64_t k = 0; k < 21; ++k) squares += std::pow(image({i[0], k / 7, k % 7}) - sum / 21, 2);
                   const double normal = (image({i[0], i[1], i[2]}) - sum / 21) / std::sqrt(squares / 21 + 1e-3);
                   return normal * scale({i[1], i[2]}) + shift({i[1], i[2]});
                 });
}

TEST_CASE("layer_norm of large values that hardly differ does not cancel") {
  const Tensor x = input({1, 64}, "X"), gamma = input({64}, "G"), beta = input({64}, "B");
  Image image = random_image({1, 64}, 1);
  for (std::size_t k = 0; k < 64; ++k) image.values[k] = 10'000.0f + static_cast<float>(k % 2);
  const Image ones{{64}, std::vector<float>(64, 1.0f)}, zeros{{64}, std::vector<float>(64, 0.0f)};
  check_elements(
      evaluate(layer_norm(x, gamma, beta, "Y"), {x, gamma, beta}, {image, ones, zeros}), {1, 64},
      [](auto& i) { return i[1] % 2 == 0 ? -1.0 : 1.0; }, 1e-4);
}

TEST_CASE("layer_norm refuses what it cannot normalise") {
  const Tensor x = input({4, 6}, "X"), g = input({6}, "G"), b = input({6}, "B"), wrong = input({5}, "W");
  const Tensor whole = lang::placeholder({4, 6}, DType::i32, "I");
  CHECK(refusal([&] { layer_norm(x, g, wrong, "Y"); }) ==
        "'Y': expected the last dimensions of 'X' and 'W' to be the same, got 6 and 5");
  CHECK(refusal([&] { layer_norm(x, x, g, "Y"); }) == "'Y': expected 'G' to have 2 dimensions, got [6]");
  CHECK(refusal([&] { layer_norm(g, x, x, "Y"); }) ==
        "'Y': expected floats with the dimensions of 'X' as the last ones, got [6]");
  CHECK(refusal([&] { layer_norm(whole, g, b, "Y"); }) ==
        "'Y': expected floats with the dimensions of 'G' as the last ones, got [4, 6]");
}
