// Cases for the library's operators with several stages or several layouts.
#include <cmath>

#include "ferry/ops/convolution.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/shapes.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::in;
using lang::placeholder;
using lang::Tensor;
using lang::var;

// Returns an element; the data is row-major.
double at(const Data& data, const Index& index) {
  std::int64_t place = 0;
  for (std::size_t d = 0; d < index.size(); ++d) place = place * data.dim(d) + index[d];
  return data(place);
}

// Returns an element of an image padded with 0.
double padded(const Data& x, Index index, std::int64_t by) {
  for (std::size_t d = 2; d < index.size(); ++d) {
    index[d] -= by;
    if (index[d] < 0 || index[d] >= x.dim(d)) return 0;
  }
  return at(x, index);
}

void convolutions(std::vector<ProgramCase>& cases) {
  for (const std::int64_t groups : {1, 2}) {
    const Tensor x = placeholder({2, 4, var("W")}, DType::f32, "X"),
                 k = placeholder({6, 4 / groups, var("KW")}, DType::f32, "K");
    const ops::Window window{2, 3, 2};
    cases.push_back(built_case(
        "conv1d in " + std::to_string(groups) + " groups, strided, padded and dilated", {in(x), in(k)},
        ops::conv1d(x, k, window, "Y", groups), {floats({2, 4, 37}, 110), floats({6, 4 / groups, 3}, 111)}, {2, 6, 20},
        [groups](auto& a, auto& i) {
          return sum_over({4 / groups, 3}, [&](auto& r) {
            const std::int64_t channel = i[1] / (6 / groups) * (4 / groups) + r[0];
            return padded(a[0], {i[0], channel, i[2] * 2 + r[1] * 2}, 3) * at(a[1], {i[1], r[0], r[1]});
          });
        },
        1e-6));
  }
  const Tensor x = placeholder({1, 3, 9, 13}, DType::f32, "X"), d = placeholder({3, 2, 3, 3}, DType::f32, "D"),
               p = placeholder({5, 6, 1, 1}, DType::f32, "P");
  cases.push_back(built_case(
      "depthwise separable conv2d", {in(x), in(d), in(p)},
      ops::depthwise_separable_conv2d(x, d, p, ops::convolution(1, 1), "Y"),
      {floats({1, 3, 9, 13}, 114), floats({3, 2, 3, 3}, 115), floats({5, 6, 1, 1}, 116)}, {1, 5, 9, 13},
      [](auto& a, auto& i) {
        return sum_over({6, 3, 3}, [&](auto& r) {
          return padded(a[0], {i[0], r[0] / 2, i[2] + r[1], i[3] + r[2]}, 1) *
                 at(a[1], {r[0] / 2, r[0] % 2, r[1], r[2]}) * at(a[2], {i[1], r[0], 0, 0});
        });
      },
      1e-6));
}

void norms(std::vector<ProgramCase>& cases) {
  const Tensor x = placeholder({var("n"), var("m"), var("c")}, DType::f32, "X");
  for (const std::size_t inner : {1, 2}) {
    std::vector<lang::Expr> shape(x.shape().end() - static_cast<std::ptrdiff_t>(inner), x.shape().end());
    const Tensor gamma = placeholder(shape, DType::f32, "G"), beta = placeholder(shape, DType::f32, "B");
    const Index last = inner == 1 ? Index{37} : Index{5, 37};
    cases.push_back(built_case(
        "layer norm over " + std::to_string(inner) + " dimensions", {in(x), in(gamma), in(beta)},
        ops::layer_norm(x, gamma, beta, "Y"), {floats({3, 5, 37}, 117), floats(last, 118), floats(last, 119)},
        {3, 5, 37},
        [inner](auto& a, auto& i) {
          const std::int64_t size = inner == 1 ? 37 : 185;
          const std::int64_t place = (i[0] * 5 + i[1]) * 37 + i[2], from = place / size * size;
          double sum = 0, squares = 0;
          for (std::int64_t j = from; j < from + size; ++j) sum += a[0](j);
          for (std::int64_t j = from; j < from + size; ++j) squares += std::pow(a[0](j) - sum / size, 2);
          const double value = (a[0](place) - sum / size) / std::sqrt(squares / size + 1e-5);
          return Element{value * a[1](place - from) + a[2](place - from), 4};
        },
        1e-6));
  }
}

void moves(std::vector<ProgramCase>& cases) {
  const Tensor a = placeholder({var("n"), var("m")}, DType::f32, "A"),
               b = placeholder({a.shape()[0], var("k")}, DType::f32, "B"),
               c = placeholder({a.shape()[0], 1}, DType::f32, "C");
  cases.push_back(
      built_case("three matrices side by side", {in(a), in(b), in(c)}, ops::concat({a, b, c}, 1, "Y"),
                 {floats({7, 13}, 120), floats({7, 5}, 121), floats({7, 1}, 122)}, {7, 19}, [](auto& x, auto& i) {
                   const std::int64_t j = i[1];
                   const double value = j < 13 ? x[0](i[0], j) : j < 18 ? x[1](i[0], j - 13) : x[2](i[0], 0);
                   return Element{value, 1};
                 }));
  const Tensor g = placeholder({var("n")}, DType::f32, "A");
  cases.push_back(built_case(
      "gelu of the library", {in(g)}, ops::gelu(g, "Y"), {floats({67}, 123)}, {67},
      [](auto& x, auto& i) { return Element{x[0](i[0]) / 2 * (1 + std::erf(x[0](i[0]) / std::sqrt(2.0))), 1}; }, 1e-6));
}

}  // namespace

std::vector<ProgramCase> layer_cases() {
  std::vector<ProgramCase> cases;
  convolutions(cases);
  norms(cases);
  moves(cases);
  return cases;
}

}  // namespace ferry::test
