// Cases for convolutions of 8-bit integers, with plain loops over the integers beside them. Lanes of images past the
// channels have values of their own.
#include <cmath>

#include "ferry/lang/math.h"
#include "ferry/ops/blocked.h"
#include "ferry/ops/integers.h"
#include "tests/e2e/programs/built_case.h"
#include "tests/support/seeded.h"

namespace ferry::test {

namespace {

using lang::constant;
using lang::Expr;
using lang::in;
using lang::placeholder;
using lang::Tensor;

struct Layer {
  DType dtype = DType::u8;
  double zero = 0;
  std::int64_t channels = 1, outputs = 1, size = 5, kernel = 3, stride = 1, before = 1, after = 1;
  bool is_extreme = false;  // elements are the least and the greatest
  double least_weight = -128;
  bool is_depthwise = false;  // each channel has a filter of its own

  std::int64_t depth() const { return is_depthwise ? 1 : channels; }
  ops::Window window() const { return {stride, before, 1, after}; }
  std::int64_t result() const { return (size + before + after - kernel) / stride + 1; }
};

const std::vector<Layer> kLayers = {
    {.zero = 3, .channels = 32, .outputs = 32, .size = 7},
    {.dtype = DType::i8, .zero = -5, .channels = 20, .outputs = 19, .size = 6},
    {.zero = 255, .channels = 33, .outputs = 48, .kernel = 1, .before = 0, .after = 0, .is_extreme = true},
    {.dtype = DType::i8, .zero = -128, .channels = 16, .outputs = 16, .size = 8, .stride = 2, .is_extreme = true},
    {.zero = 128, .channels = 7, .outputs = 33, .size = 9, .stride = 2, .before = 0, .after = 2},
};
const std::vector<Layer> kFirstLayers = {
    {.zero = 114, .channels = 3, .outputs = 24, .size = 13, .kernel = 7, .stride = 2, .before = 3, .after = 3},
    {.dtype = DType::i8, .zero = 17, .channels = 5, .outputs = 16, .size = 6, .is_extreme = true},
};

const std::vector<Layer> kDepthwiseLayers = {
    {.zero = 3, .channels = 24, .outputs = 24, .size = 11, .is_depthwise = true},
    {.dtype = DType::i8,
     .zero = -5,
     .channels = 21,
     .outputs = 21,
     .size = 9,
     .is_extreme = true,
     .is_depthwise = true},
    {.dtype = DType::i8,
     .zero = 127,
     .channels = 13,
     .outputs = 13,
     .size = 14,
     .stride = 2,
     .before = 0,
     .is_depthwise = true},
    {.zero = 255,
     .channels = 8,
     .outputs = 8,
     .size = 13,
     .kernel = 5,
     .stride = 2,
     .before = 2,
     .after = 2,
     .is_depthwise = true},
    {.dtype = DType::i8,
     .zero = 77,
     .channels = 17,
     .outputs = 17,
     .size = 7,
     .kernel = 5,
     .before = 2,
     .after = 2,
     .is_extreme = true,
     .is_depthwise = true},
    {.zero = 128, .channels = 5, .outputs = 5, .size = 40, .kernel = 2, .before = 0, .after = 1, .is_depthwise = true},
};

// Returns integers from all of the type's range, or only its ends.
Data bytes(DType dtype, Index shape, std::uint64_t seed, bool is_extreme, double lower_bound = -128) {
  Data data = empty_data(dtype, std::move(shape));
  const double least = dtype == DType::u8 ? 0 : -128;
  Seeded seeded(static_cast<std::uint32_t>(seed));
  for (double& value : data.values) {
    const auto drawn = static_cast<double>(seeded.byte());
    value = least + (is_extreme ? (drawn < 128 ? 0 : 255) : drawn);
    if (dtype == DType::i8) value = std::max(value, lower_bound);
  }
  return data;
}

// Sums up (x - zero) * weight over the window; outside of the image x is zero.
template <class Pixel>
double sum_at(const Layer& layer, const Data& weights, const Index& i, Pixel pixel) {
  double sum = 0;
  for (std::int64_t c = 0; c < layer.depth(); ++c)
    for (std::int64_t kh = 0; kh < layer.kernel; ++kh)
      for (std::int64_t kw = 0; kw < layer.kernel; ++kw) {
        const std::int64_t h = i[2] * layer.stride + kh - layer.before, w = i[3] * layer.stride + kw - layer.before;
        if (h >= 0 && h < layer.size && w >= 0 && w < layer.size)
          sum += (pixel(layer.is_depthwise ? i[1] : c, h, w) - layer.zero) * weights(i[1], c, kh, kw);
      }
  return sum;
}

// Returns the sums times scales that are powers of two, rounded, as a network requantizes them.
Tensor requantized(const Tensor& sums, const Tensor& scales, std::int64_t lanes, std::int64_t outputs) {
  return lang::compute(
      sums.shape(),
      [&](auto& i) {
        const Expr channel = ir::min(i[1] * lanes + i[4], outputs - 1);
        const Expr real = lang::floor(ir::cast(DType::f32, sums(i)) * scales(channel) + 0.5F);
        return ir::cast(DType::u8, ir::min(ir::max(real, 0.0F), 255.0F));
      },
      "Y");
}

void add_cases(std::vector<ProgramCase>& cases, const std::string& name, const Layer& layer, std::int64_t lanes,
               const Data& image, const Tensor& sums, std::vector<lang::Parameter> parameters, auto pixel) {
  const Data weights = bytes(DType::i8, {layer.outputs, layer.depth(), layer.kernel, layer.kernel}, 41,
                             layer.is_extreme, layer.least_weight);
  Data zero = empty_data(layer.dtype, {}), scales = empty_data(DType::f32, {layer.outputs});
  zero.values = {layer.zero};
  for (std::size_t o = 0; o < scales.values.size(); ++o) scales.values[o] = o % 3 == 0 ? 0x1p-9 : 0x1p-11;
  const Index result = {1, layer.outputs, layer.result(), layer.result()};
  cases.push_back(built_case(name, parameters, ops::from_blocked(sums, layer.outputs, "Z"), {image, weights, zero},
                             result, [layer, pixel](auto& a, auto& i) {
                               return Element{sum_at(layer, a[1], i, [&](auto... at) { return pixel(a[0], at...); }),
                                              0};
                             }));
  const Tensor s = placeholder({layer.outputs}, DType::f32, "scales");
  parameters.push_back(constant(s));
  cases.push_back(built_case(name + ", requantized", parameters,
                             ops::from_blocked(requantized(sums, s, lanes, layer.outputs), layer.outputs, "Z"),
                             {image, weights, zero, scales}, result, [layer, pixel](auto& a, auto& i) {
                               const double sum =
                                   sum_at(layer, a[1], i, [&](auto... at) { return pixel(a[0], at...); });
                               return Element{std::min(std::max(std::floor(sum * a[3](i[1]) + 0.5), 0.0), 255.0), 0};
                             }));
}

using ops::IntegerFactors;
using ops::IntegerProducts;

std::string text_of(const IntegerProducts& products) {
  const char* factors = products.factors == IntegerFactors::bytes     ? "bytes"
                        : products.factors == IntegerFactors::flipped ? "flipped bytes"
                                                                      : "int16";
  return ", groups of " + std::to_string(products.group) + " " + factors +
         (products.weights_above_minimum ? ", weights above -128" : "");
}

void convolutions(std::vector<ProgramCase>& cases, const Layer& layer, std::int64_t lanes,
                  const IntegerProducts& products) {
  const Index sizes = {1, (layer.channels + lanes - 1) / lanes, layer.size, layer.size, lanes};
  const Tensor x = placeholder({sizes.begin(), sizes.end()}, layer.dtype, "X"),
               k = placeholder({layer.outputs, layer.depth(), layer.kernel, layer.kernel}, DType::i8, "K"),
               z = placeholder({}, layer.dtype, "zero");
  const std::string kind = layer.is_depthwise
                               ? "depthwise convolution of integers, " + std::to_string(layer.kernel) + "x" +
                                     std::to_string(layer.kernel) + ", stride " + std::to_string(layer.stride) + ", "
                               : "integer convolution of ";
  const auto convolution = layer.is_depthwise ? &ops::integer_depthwise_conv2d_blocked : &ops::integer_conv2d_blocked;
  add_cases(
      cases,
      kind + std::to_string(layer.channels) + " channels in blocks of " + std::to_string(lanes) + text_of(products),
      layer, lanes, bytes(layer.dtype, sizes, 7, layer.is_extreme),
      convolution(x, k, z(std::vector<Expr>{}), {layer.window(), layer.window()}, products, "S"),
      {in(x), constant(k), constant(z)}, [lanes](const Data& image, std::int64_t c, std::int64_t h, std::int64_t w) {
        return image.at({0, c / lanes, h, w, c % lanes});
      });
}

void first_convolutions(std::vector<ProgramCase>& cases, const Layer& layer, std::int64_t lanes,
                        const IntegerProducts& products) {
  const Index sizes = {1, layer.channels, layer.size, layer.size};
  const Tensor x = placeholder({sizes.begin(), sizes.end()}, layer.dtype, "X"),
               k = placeholder({layer.outputs, layer.channels, layer.kernel, layer.kernel}, DType::i8, "K"),
               z = placeholder({}, layer.dtype, "zero");
  add_cases(cases,
            "integer convolution of a plain image of " + std::to_string(layer.channels) + " channels to blocks of " +
                std::to_string(lanes) + text_of(products),
            layer, lanes, bytes(layer.dtype, sizes, 9, layer.is_extreme),
            ops::integer_conv2d_to_blocked(x, k, z(std::vector<Expr>{}), {layer.window(), layer.window()}, lanes,
                                           products, "S"),
            {in(x), constant(k), constant(z)},
            [](const Data& image, std::int64_t c, std::int64_t h, std::int64_t w) { return image(0, c, h, w); });
}

// The integers whose products are the largest and the least, in an order that puts each next to each.
Data edges(DType dtype, Index shape, std::size_t step, double least) {
  Data data = empty_data(dtype, std::move(shape));
  constexpr double kEdges[] = {-128, -127, -1, 0, 1, 127};
  std::size_t at = 0;
  for (double& value : data.values) {
    const std::size_t number = at++ * step;
    value = std::max(kEdges[(number + number / 6 + number / 36) % 6], least) + (dtype == DType::u8 ? 128 : 0);
  }
  return data;
}

// Products of rows of bytes and matrices for each depth from 1 to 9.
void products_of_depths(std::vector<ProgramCase>& cases, DType dtype, double zero, bool is_transposed,
                        const IntegerProducts& products) {
  constexpr std::int64_t kRows = 7, kColumns = 13, kLanes = 4;
  for (std::int64_t depth = 1; depth <= 9; ++depth) {
    const Tensor a = placeholder({kRows, depth}, dtype, "A"), z = placeholder({}, dtype, "zero"),
                 w = is_transposed ? placeholder({kColumns, depth}, DType::i8, "W")
                                   : placeholder({depth, kColumns}, DType::i8, "W");
    Data zero_data = empty_data(dtype, {});
    zero_data.values = {zero};
    const Index weights = is_transposed ? Index{kColumns, depth} : Index{depth, kColumns};
    cases.push_back(built_case(std::string("integer product of ") + (dtype == DType::u8 ? "uint8" : "int8") +
                                   " with zero point " + std::to_string(static_cast<int>(zero)) + ", depth " +
                                   std::to_string(depth) + (is_transposed ? ", transposed" : "") + text_of(products),
                               {in(a), constant(w), constant(z)},
                               ops::integer_matmul(a, w, z(std::vector<Expr>{}), is_transposed, kLanes, products, "S"),
                               {edges(dtype, {kRows, depth}, 1, -128),
                                edges(DType::i8, weights, 5, products.weights_above_minimum ? -127 : -128), zero_data},
                               {kRows, kColumns}, [=](auto& in, auto& i) {
                                 double sum = 0;
                                 for (std::int64_t k = 0; k < depth; ++k)
                                   sum += (in[0](i[0], k) - in[2].values[0]) *
                                          (is_transposed ? in[1](i[1], k) : in[1](k, i[1]));
                                 return Element{sum, 0};
                               }));
  }
}

}  // namespace

std::vector<ProgramCase> pairs_of_bytes_cases() {
  constexpr IntegerProducts kPairs = {IntegerFactors::bytes, 2}, kFlipped = {IntegerFactors::flipped, 2},
                            kMerged = {IntegerFactors::bytes, 2, true},
                            kFlippedMerged = {IntegerFactors::flipped, 2, true};
  std::vector<ProgramCase> cases;
  for (const double zero : {0, 127, 128, 255})
    for (const IntegerProducts& products : {kFlipped, kFlippedMerged})
      products_of_depths(cases, DType::u8, zero, zero == 127, products);
  for (const double zero : {-128, 0, 127})
    for (const IntegerProducts& products : {kPairs, kMerged})
      products_of_depths(cases, DType::i8, zero, zero == 127, products);
  for (Layer layer : kLayers) {
    convolutions(cases, layer, 4, layer.dtype == DType::u8 ? kFlipped : kPairs);
    layer.least_weight = -127;
    convolutions(cases, layer, 4, layer.dtype == DType::u8 ? kFlippedMerged : kMerged);
  }
  for (Layer layer : kFirstLayers) {
    layer.least_weight = -127;
    first_convolutions(cases, layer, 4, layer.dtype == DType::u8 ? kFlippedMerged : kMerged);
    first_convolutions(cases, layer, 8, layer.dtype == DType::u8 ? kFlippedMerged : kMerged);
  }
  for (Layer layer : kLayers) {
    convolutions(cases, layer, 8, layer.dtype == DType::u8 ? kFlipped : kPairs);
    layer.least_weight = -127;
    convolutions(cases, layer, 8, layer.dtype == DType::u8 ? kFlippedMerged : kMerged);
  }
  for (Layer layer : kDepthwiseLayers) {
    convolutions(cases, layer, 8, {IntegerFactors::bytes, 1});
    layer.least_weight = -127;
    for (const std::int64_t lanes : {4, 8})
      convolutions(cases, layer, lanes, layer.dtype == DType::u8 ? kFlippedMerged : kMerged);
  }
  return cases;
}

std::vector<ProgramCase> integer_cases() {
  constexpr IntegerProducts kBytes = {IntegerFactors::bytes, 4}, kFlipped = {IntegerFactors::flipped, 4},
                            kPairs = {IntegerFactors::int16, 2};
  std::vector<ProgramCase> cases;
  for (const std::int64_t lanes : {4, 8, 16})
    for (const Layer& layer : kDepthwiseLayers)
      for (const IntegerFactors factors : {IntegerFactors::bytes, IntegerFactors::int16})
        convolutions(cases, layer, lanes, {factors, 1});
  for (const std::int64_t lanes : {4, 16}) {
    for (const Layer& layer : kLayers) convolutions(cases, layer, lanes, kBytes);
    for (const Layer& layer : kFirstLayers) first_convolutions(cases, layer, lanes, kBytes);
    // The extremes of both types of bytes.
    for (const Layer& layer : {kLayers[2], kLayers[3]}) {
      convolutions(cases, layer, lanes, kFlipped);
      convolutions(cases, layer, lanes, kPairs);
    }
    convolutions(cases, kLayers[1], lanes, kPairs);
    first_convolutions(cases, kFirstLayers[0], lanes, kPairs);
    convolutions(cases, kLayers[1], lanes, {IntegerFactors::bytes, 1});
    convolutions(cases, kLayers[1], lanes, {IntegerFactors::int16, 1});
    first_convolutions(cases, kFirstLayers[0], lanes, {IntegerFactors::bytes, 1});
  }
  return cases;
}

}  // namespace ferry::test
