#include <algorithm>
#include <cmath>

#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

void broadcasts(std::vector<ProgramCase>& cases) {
  cases.push_back({"broadcast add of a column to a matrix",
                   "def add_column(float32(M,1) A, float32(M,N) B) -> (C) { C(i,j) = A(i,0) + B(i,j) }",
                   {random_data(DType::f32, {11, 1}, 1), random_data(DType::f32, {11, 29}, 2)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {11, 29},
                                     [&](const Index& i) { return Element{in[0](i[0], 0) + in[1](i[0], i[1]), 1}; }));
                   },
                   1e-7});
  cases.push_back({"broadcast multiply of a column and a row",
                   "def outer(float32(M,1) A, float32(1,N) B) -> (C) { C(i,j) = A(i,0) * B(0,j) }",
                   {random_data(DType::f32, {17, 1}, 3), random_data(DType::f32, {1, 35}, 4)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {17, 35},
                                     [&](const Index& i) { return Element{in[0](i[0], 0) * in[1](0, i[1]), 1}; }));
                   },
                   1e-7});
  cases.push_back(
      {"relu keeps what is positive",
       "def relu(float32(N) A) -> (B) { B(i) = max(A(i), 0.0) }",
       {random_data(DType::f32, {67}, 5)},
       [](const Arguments& in) {
         return one(each(DType::f32, {67}, [&](const Index& i) { return Element{std::max(in[0](i[0]), 0.0), 1}; }));
       }});
}

void products(std::vector<ProgramCase>& cases) {
  for (const auto& [m, n, k] : {std::tuple{1, 1, 1}, {17, 33, 65}, {64, 64, 64}, {5, 130, 3}}) {
    cases.push_back({"matmul " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
                     "def mm(float32(M,K) A, float32(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                     {random_data(DType::f32, {m, k}, 6), random_data(DType::f32, {k, n}, 7)},
                     [](const Arguments& in) {
                       return one(each(DType::f32, {in[0].dim(0), in[1].dim(1)}, [&](const Index& i) {
                         Element sum;
                         for (std::int64_t l = 0; l < in[0].dim(1); ++l) sum.add(in[0](i[0], l) * in[1](l, i[1]));
                         return sum;
                       }));
                     },
                     1e-6});
  }
  cases.push_back({"half-precision product that accumulates in float32",
                   "def mm(float16(M,K) A, float16(K,N) B) -> (C) { C(m,n) +=! float32(A(m,k)) * float32(B(k,n)) }",
                   {random_data(DType::f16, {9, 21}, 8), random_data(DType::f16, {21, 19}, 9)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {9, 19}, [&](const Index& i) {
                       Element sum;
                       for (std::int64_t l = 0; l < 21; ++l) sum.add(in[0](i[0], l) * in[1](l, i[1]));
                       return sum;
                     }));
                   },
                   1e-6});
}

// Convolution of NCHW data that is already padded.
Element convolve(const Data& image, const Data& weights, const Index& at, std::int64_t stride, bool depthwise) {
  Element sum;
  const std::int64_t channels = depthwise ? 1 : weights.dim(1);
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t r = 0; r < weights.dim(2); ++r)
      for (std::int64_t s = 0; s < weights.dim(3); ++s)
        sum.add(image(at[0], depthwise ? at[1] : c, at[2] * stride + r, at[3] * stride + s) * weights(at[1], c, r, s));
  return sum;
}

Data padded(const Data& image, std::int64_t by, double with) {
  Data result = empty_data(image.dtype, {image.dim(0), image.dim(1), image.dim(2) + 2 * by, image.dim(3) + 2 * by});
  std::size_t at = 0;
  for (std::int64_t n = 0; n < result.dim(0); ++n)
    for (std::int64_t c = 0; c < result.dim(1); ++c)
      for (std::int64_t h = 0; h < result.dim(2); ++h)
        for (std::int64_t w = 0; w < result.dim(3); ++w) {
          const bool inside = h >= by && w >= by && h < image.dim(2) + by && w < image.dim(3) + by;
          result.values[at++] = inside ? image(n, c, h - by, w - by) : with;
        }
  return result;
}

void convolutions(std::vector<ProgramCase>& cases) {
  cases.push_back(
      {"conv2d without padding",
       "def conv(float32(N,C,H,W) I, float32(O,C,KH,KW) K) -> (Y) { Y(n,o,h,w) +=! I(n,c,h+kh,w+kw) * K(o,c,kh,kw) }",
       {random_data(DType::f32, {2, 3, 9, 21}, 10), random_data(DType::f32, {5, 3, 3, 3}, 11)},
       [](const Arguments& in) {
         return one(
             each(DType::f32, {2, 5, 7, 19}, [&](const Index& i) { return convolve(in[0], in[1], i, 1, false); }));
       },
       1e-6});
  cases.push_back({"conv2d with padding and stride",
                   "def conv(float32(N,C,H,W) I, float32(O,C,KH,KW) K) -> (Y) {\n"
                   "  P(n,c,h,w) = h >= 1 && h < H + 1 && w >= 1 && w < W + 1 ? I(n,c,h-1,w-1) : 0 where n in 0:N, c "
                   "in 0:C, h in 0:H+2, w in "
                   "0:W+2\n"
                   "  Y(n,o,h,w) +=! P(n,c,2*h+kh,2*w+kw) * K(o,c,kh,kw)\n}",
                   {random_data(DType::f32, {1, 4, 11, 35}, 12), random_data(DType::f32, {6, 4, 3, 3}, 13)},
                   [](const Arguments& in) {
                     const Data image = padded(in[0], 1, 0);
                     return one(each(DType::f32, {1, 6, 6, 18},
                                     [&](const Index& i) { return convolve(image, in[1], i, 2, false); }));
                   },
                   1e-6});
  cases.push_back({"depthwise conv2d",
                   "def depthwise(float32(N,C,H,W) I, float32(C,1,KH,KW) K) -> (Y) { Y(n,c,h,w) +=! I(n,c,h+kh,w+kw) * "
                   "K(c,0,kh,kw) }",
                   {random_data(DType::f32, {1, 7, 13, 27}, 14), random_data(DType::f32, {7, 1, 3, 3}, 15)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {1, 7, 11, 25},
                                     [&](const Index& i) { return convolve(in[0], in[1], i, 1, true); }));
                   },
                   1e-6});
}

void pooling(std::vector<ProgramCase>& cases) {
  auto window = [](const Data& image, const Index& i, auto combine, double start) {
    double value = start;
    for (std::int64_t r = 0; r < 3; ++r)
      for (std::int64_t s = 0; s < 3; ++s) value = combine(value, image(i[0], i[1], 2 * i[2] + r, 2 * i[3] + s));
    return value;
  };
  const Index shape = {1, 3, 6, 17};
  cases.push_back(
      {"max pooling",
       "def max_pool(float32(N,C,H,W) I) -> (Y) { Y(n,c,h,w) max=! I(n,c,2*h+r,2*w+s) where r in 0:3, s in 0:3, h in "
       "0:(H-1)/2, w in 0:(W-1)/2 }",
       {random_data(DType::f32, {1, 3, 13, 35}, 16)},
       [=](const Arguments& in) {
         return one(each(DType::f32, shape, [&](const Index& i) {
           return Element{window(in[0], i, [](double a, double b) { return std::max(a, b); }, -INFINITY), 1};
         }));
       }});
  cases.push_back({"average pooling",
                   "def avg_pool(float32(N,C,H,W) I) -> (Y) {\n"
                   "  S(n,c,h,w) +=! I(n,c,2*h+r,2*w+s) where r in 0:3, s in 0:3, h in 0:(H-1)/2, w in 0:(W-1)/2\n"
                   "  Y(n,c,h,w) = S(n,c,h,w) / 9.0\n}",
                   {random_data(DType::f32, {1, 3, 13, 35}, 17)},
                   [=](const Arguments& in) {
                     return one(each(DType::f32, shape, [&](const Index& i) {
                       return Element{window(in[0], i, [](double a, double b) { return a + b; }, 0) / 9, 1};
                     }));
                   },
                   1e-6});
}

void normalisations(std::vector<ProgramCase>& cases) {
  cases.push_back(
      {"batch norm in several stages",
       "def batch_norm(float32(N,C,H,W) X, float32(C) mean, float32(C) variance, float32(C) gamma, float32(C) beta) -> "
       "(Y) {\n"
       "  D(n,c,h,w) = X(n,c,h,w) - mean(c)\n"
       "  S(c) = sqrt(abs(variance(c)) + 1e-5)\n"
       "  Q(n,c,h,w) = D(n,c,h,w) / S(c)\n"
       "  Y(n,c,h,w) = Q(n,c,h,w) * gamma(c) + beta(c)\n}",
       {random_data(DType::f32, {2, 5, 7, 9}, 18), random_data(DType::f32, {5}, 19), random_data(DType::f32, {5}, 20),
        random_data(DType::f32, {5}, 21), random_data(DType::f32, {5}, 22)},
       [](const Arguments& in) {
         return one(each(DType::f32, in[0].shape, [&](const Index& i) {
           const double deviation = std::sqrt(std::abs(in[2](i[1])) + 1e-5);
           Element result;
           result.add((in[0](i[0], i[1], i[2], i[3]) - in[1](i[1])) / deviation * in[3](i[1]));
           result.add(in[4](i[1]));
           result.scale += 1 / deviation;
           return result;
         }));
       },
       1e-6});
  cases.push_back({"softmax of rows",
                   "def softmax(float32(N,M) A) -> (Y) {\n"
                   "  H(i) max=! A(i,j)\n"
                   "  E(i,j) = exp(A(i,j) - H(i))\n"
                   "  S(i) +=! E(i,j)\n"
                   "  Y(i,j) = E(i,j) / S(i)\n}",
                   {random_data(DType::f32, {13, 45}, 23)},
                   [](const Arguments& in) {
                     return one(each(DType::f32, {13, 45}, [&](const Index& i) {
                       double sum = 0;
                       for (std::int64_t j = 0; j < 45; ++j) sum += std::exp(in[0](i[0], j));
                       return Element{std::exp(in[0](i[0], i[1])) / sum, 1};
                     }));
                   },
                   1e-6});
  cases.push_back(
      {"an initialised sum that goes on in a second statement",
       "def dense(float32(M,K) A, float32(K,N) W, float32(N) bias) -> (Y) {\n"
       "  Y(m,n) = bias(n) where m in 0:M\n"
       "  Y(m,n) += A(m,k) * W(k,n)\n}",
       {random_data(DType::f32, {6, 37}, 24), random_data(DType::f32, {37, 50}, 25), random_data(DType::f32, {50}, 26)},
       [](const Arguments& in) {
         return one(each(DType::f32, {6, 50}, [&](const Index& i) {
           Element sum;
           sum.add(in[2](i[1]));
           for (std::int64_t k = 0; k < 37; ++k) sum.add(in[0](i[0], k) * in[1](k, i[1]));
           return sum;
         }));
       },
       1e-6});
}

}  // namespace

std::vector<ProgramCase> operator_cases() {
  std::vector<ProgramCase> cases;
  broadcasts(cases);
  products(cases);
  convolutions(cases);
  pooling(cases);
  normalisations(cases);
  return cases;
}

}  // namespace ferry::test
