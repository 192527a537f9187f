// Cases for the library's products, convolutions, poolings and normalisations.
#include <algorithm>
#include <cmath>

#include "ferry/ops/convolution.h"
#include "ferry/ops/matmul.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/pooling.h"
#include "ferry/ops/reductions.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::Expr;
using lang::in;
using lang::placeholder;
using lang::Tensor;
using lang::var;

Tensor image_input() { return placeholder({var("N"), var("C"), var("H"), var("W")}, DType::f32, "X"); }

// Returns the image's value, or `outside` beyond its borders.
double seen(const Data& image, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, double outside = 0) {
  const bool inside = h >= 0 && h < image.dim(2) && w >= 0 && w < image.dim(3);
  return inside ? image(n, c, h, w) : outside;
}

void products(std::vector<ProgramCase>& cases) {
  const Expr m = var("m"), n = var("n"), k = var("k");
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Tensor a = ta ? placeholder({k, m}, DType::f32, "A") : placeholder({m, k}, DType::f32, "A");
      const Tensor b = tb ? placeholder({n, k}, DType::f32, "B") : placeholder({k, n}, DType::f32, "B");
      cases.push_back(built_case(
          std::string("matmul of the library, ") + (ta ? "A transposed" : "A plain") +
              (tb ? ", B transposed" : ", B plain"),
          {in(a), in(b)}, ops::matmul(a, b, "C", {ta, tb}),
          {floats(ta ? Index{41, 19} : Index{19, 41}, 1), floats(tb ? Index{35, 41} : Index{41, 35}, 2)}, {19, 35},
          [=](auto& in, auto& i) {
            return sum_over({41}, [&](auto& r) {
              return (ta ? in[0](r[0], i[0]) : in[0](i[0], r[0])) * (tb ? in[1](i[1], r[0]) : in[1](r[0], i[1]));
            });
          },
          1e-6));
    }
  }
  const Expr batch = var("b");
  const Tensor as = placeholder({batch, m, k}, DType::f32, "A"), bs = placeholder({batch, k, n}, DType::f32, "B");
  cases.push_back(built_case(
      "batched matmul", {in(as), in(bs)}, ops::batch_matmul(as, bs, "C"),
      {floats({3, 7, 19}, 3), floats({3, 19, 21}, 4)}, {3, 7, 21},
      [](auto& in, auto& i) {
        return sum_over({19}, [&](auto& r) { return in[0].at({i[0], i[1], r[0]}) * in[1].at({i[0], r[0], i[2]}); });
      },
      1e-6));
  const Tensor x = placeholder({m, k}, DType::f32, "X"), w = placeholder({n, k}, DType::f32, "W"),
               bias = placeholder({n}, DType::f32, "B");
  cases.push_back(built_case(
      "dense with a bias", {in(x), in(w), in(bias)}, ops::dense(x, w, bias, "Y"),
      {floats({5, 39}, 5), floats({27, 39}, 6), floats({27}, 7)}, {5, 27},
      [](auto& in, auto& i) {
        Element sum = sum_over({39}, [&](auto& r) { return in[0](i[0], r[0]) * in[1](i[1], r[0]); });
        sum.add(in[2](i[1]));
        return sum;
      },
      1e-6));
}

void convolutions(std::vector<ProgramCase>& cases) {
  struct Form {
    const char* name;
    std::int64_t stride, padding, dilation, groups;
    Index result;
  };
  for (const Form& form : {Form{"padded", 1, 1, 1, 1, {2, 6, 11, 21}},
                           {"padded, stride 2", 2, 1, 1, 1, {2, 6, 6, 11}},
                           {"stride 3, no padding", 3, 0, 1, 1, {2, 6, 3, 7}},
                           {"dilated", 1, 2, 2, 1, {2, 6, 11, 21}},
                           {"in two groups", 1, 1, 1, 2, {2, 6, 11, 21}}}) {
    const Tensor x = placeholder({2, 4, 11, 21}, DType::f32, "X"),
                 k = placeholder({6, 4 / form.groups, 3, 3}, DType::f32, "K");
    cases.push_back(built_case(
        std::string("conv2d of the library, ") + form.name, {in(x), in(k)},
        ops::conv2d(x, k, ops::convolution(form.stride, form.padding, form.dilation, form.groups), "Y"),
        {floats({2, 4, 11, 21}, 8), floats({6, 4 / form.groups, 3, 3}, 9)}, form.result,
        [form](auto& in, auto& i) {
          return sum_over({4 / form.groups, 3, 3}, [&](auto& r) {
            const std::int64_t channel = i[1] / (6 / form.groups) * (4 / form.groups) + r[0];
            return in[1](i[1], r[0], r[1], r[2]) * seen(in[0], i[0], channel,
                                                        i[2] * form.stride + r[1] * form.dilation - form.padding,
                                                        i[3] * form.stride + r[2] * form.dilation - form.padding);
          });
        },
        1e-6));
  }
  const Tensor x = image_input(), k = placeholder({x.shape()[1], 2, var("KH"), var("KW")}, DType::f32, "K");
  for (const std::int64_t stride : {1, 2}) {
    cases.push_back(built_case(
        "depthwise conv2d of the library, stride " + std::to_string(stride), {in(x), in(k)},
        ops::depthwise_conv2d(x, k, ops::convolution(stride, 1), "Y"),
        {floats({1, 3, 13, 27}, 10), floats({3, 2, 3, 3}, 11)}, {1, 6, (13 - 1) / stride + 1, (27 - 1) / stride + 1},
        [stride](auto& in, auto& i) {
          return sum_over({3, 3}, [&](auto& r) {
            return in[1](i[1] / 2, i[1] % 2, r[0], r[1]) *
                   seen(in[0], i[0], i[1] / 2, i[2] * stride + r[0] - 1, i[3] * stride + r[1] - 1);
          });
        },
        1e-6));
  }
}

void poolings(std::vector<ProgramCase>& cases) {
  const Tensor x = image_input();
  const Data image = floats({2, 3, 13, 35}, 12);
  const Index shape{2, 3, 7, 18};
  cases.push_back(built_case("max pooling of the library, padded", {in(x)},
                             ops::max_pool2d(x, ops::pooling(3, 2, 1), "Y"), {image}, shape, [](auto& in, auto& i) {
                               double most = -INFINITY;
                               for (std::int64_t t = 0; t < 9; ++t) {
                                 most = std::max(most, seen(in[0], i[0], i[1], i[2] * 2 + t / 3 - 1,
                                                            i[3] * 2 + t % 3 - 1, -INFINITY));
                               }
                               return Element{most, 0};
                             }));
  for (const bool count_padding : {false, true}) {
    cases.push_back(built_case(
        std::string("average pooling of the library, padded, ") +
            (count_padding ? "over the window" : "over what is inside"),
        {in(x)}, ops::avg_pool2d(x, ops::pooling(3, 2, 1, count_padding), "Y"), {image}, shape,
        [count_padding](auto& in, auto& i) {
          double total = 0, inside = 0;
          for (std::int64_t t = 0; t < 9; ++t) {
            const std::int64_t h = i[2] * 2 + t / 3 - 1, w = i[3] * 2 + t % 3 - 1;
            total += seen(in[0], i[0], i[1], h, w);
            inside += h >= 0 && h < 13 && w >= 0 && w < 35 ? 1 : 0;
          }
          return Element{total / (count_padding ? 9 : inside), 1};
        },
        1e-6));
  }
  cases.push_back(built_case(
      "global average pooling", {in(x)}, ops::global_avg_pool2d(x, "Y"), {image}, {2, 3},
      [](auto& in, auto& i) {
        const Element sum = sum_over({13, 35}, [&](auto& r) { return in[0](i[0], i[1], r[0], r[1]); });
        return Element{sum.value / (13 * 35), sum.scale / (13 * 35)};
      },
      1e-6));
}

void normalisations(std::vector<ProgramCase>& cases) {
  const Tensor x = image_input();
  std::vector<lang::Parameter> parameters{in(x)};
  std::vector<Tensor> channels;
  for (const char* name : {"gamma", "beta", "mean", "variance"}) {
    channels.push_back(placeholder({x.shape()[1]}, DType::f32, name));
    parameters.push_back(in(channels.back()));
  }
  Data variance = floats({5}, 17);
  for (double& value : variance.values) value = std::abs(value) + 0.5;
  cases.push_back(built_case(
      "batch norm of the library", parameters,
      ops::batch_norm(x, channels[0], channels[1], channels[2], channels[3], "Y"),
      {floats({2, 5, 7, 9}, 13), floats({5}, 14), floats({5}, 15), floats({5}, 16), variance}, {2, 5, 7, 9},
      [](auto& in, auto& i) {
        const std::int64_t c = i[1];
        const double deviation = std::sqrt(in[4](c) + 1e-5);
        return Element{(in[0].at(i) - in[3](c)) / deviation * in[1](c) + in[2](c), 4};
      },
      1e-6));
  const Tensor rows = placeholder({var("m"), var("n")}, DType::f32, "X");
  for (const std::size_t dimension : {std::size_t{0}, std::size_t{1}}) {
    cases.push_back(built_case(
        "softmax of the library along dimension " + std::to_string(dimension), {in(rows)},
        ops::softmax(rows, dimension, "Y"), {floats({13, 45}, 18)}, {13, 45},
        [dimension](auto& in, auto& i) {
          double sum = 0;
          for (std::int64_t r = 0; r < (dimension == 0 ? 13 : 45); ++r)
            sum += std::exp(dimension == 0 ? in[0](r, i[1]) : in[0](i[0], r));
          return Element{std::exp(in[0].at(i)) / sum, 1};
        },
        1e-6));
  }
}

}  // namespace

std::vector<ProgramCase> library_cases() {
  std::vector<ProgramCase> cases;
  products(cases);
  convolutions(cases);
  poolings(cases);
  normalisations(cases);
  return cases;
}

}  // namespace ferry::test
