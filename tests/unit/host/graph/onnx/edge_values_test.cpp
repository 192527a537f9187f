// Operators give the values that ONNX defines where a computation in floats, or in another type, would not.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tests/unit/host/graph/onnx/computed.h"

namespace ferry::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
enum MoreTypes : std::int64_t { kUint16 = 4, kFloat16 = 10 };

using Reals = std::vector<float>;

Proto number(const char* name, std::int64_t value) { return tensor(name, kInt64, {}, raw<std::int64_t>({value})); }

// Returns what a node computes of `x`, whose other inputs are the initializers.
template <class Output = float, class Input = float>
std::vector<Output> computed_by(const std::string& op, const std::vector<Dim>& dims, const std::vector<Input>& x,
                                const std::vector<Proto>& initializers = {}, const std::vector<Proto>& attributes = {},
                                std::int64_t type = kFloat, std::int64_t opset = 22) {
  ModelBytes model;
  model.opset = opset;
  std::vector<std::string> inputs = {"x"};
  for (std::size_t i = 0; i < initializers.size(); ++i) {
    const bool is_given = !initializers[i].text().empty();
    if (is_given) model.initializer(initializers[i]);
    inputs.push_back(is_given ? std::string(1, static_cast<char>('a' + i)) : "");
  }
  model.input("x", dims, type).node(op, inputs, {"y"}, attributes, "n").output("y");
  return computed<Output>(model, x, {{"N", static_cast<std::int64_t>(x.size())}});
}

std::vector<std::int64_t> counted(std::int64_t count) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

// Returns the nearest integer to top / bottom; halves go to the even one for none of the modes.
std::int64_t nearest(const std::string& mode, std::int64_t top, std::int64_t bottom) {
  const auto down = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
  if (mode == "floor") return down(top, bottom);
  if (mode == "ceil") return -down(-top, bottom);
  if (mode == "round_prefer_ceil") return down(2 * top + bottom, 2 * bottom);
  return -down(-2 * top + bottom, 2 * bottom);
}

TEST_CASE("the nearest elements of a resize are those of exact fractions") {
  for (const auto& [from, to] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {14, 18}, {7, 9}, {7, 29}, {5, 3}, {3, 5}, {10, 49}, {49, 10}, {13, 1}, {1, 13}, {6, 12}, {22, 23}}) {
    const std::vector<std::int64_t> x = counted(from);
    for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel"}) {
      for (const char* mode : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        CAPTURE(coordinates);
        CAPTURE(mode);
        CAPTURE(from);
        CAPTURE(to);
        std::vector<std::int64_t> expected;
        for (std::int64_t i = 0; i < to; ++i) {
          const std::string how = coordinates;
          std::int64_t top = i * from, bottom = to;
          if (how == "align_corners") top = to == 1 ? 0 : i * (from - 1), bottom = to == 1 ? 1 : to - 1;
          if (how == "half_pixel" || how == "pytorch_half_pixel") top = (2 * i + 1) * from - to, bottom = 2 * to;
          if (how == "pytorch_half_pixel" && to == 1) top = 0;
          expected.push_back(std::clamp<std::int64_t>(nearest(mode, top, bottom), 0, from - 1));
        }
        for (const Dim& size : {Dim(from), Dim("N")}) {
          CHECK(computed_by<std::int64_t>(
                    "Resize", {size}, x, {Proto(), Proto(), integers("c", {to})},
                    {attribute("coordinate_transformation_mode", coordinates), attribute("nearest_mode", mode)},
                    kInt64) == expected);
        }
      }
    }
  }
}

TEST_CASE("a resize by a scale has as many elements as the product in float32") {
  const Proto scale = tensor("b", kFloat, {1}, raw<float>({0.7F}));
  CHECK(computed_by<std::int64_t>(
            "Resize", {10}, counted(10), {Proto(), scale},
            {attribute("coordinate_transformation_mode", "asymmetric"), attribute("nearest_mode", "floor")},
            kInt64) == Sizes{0, 1, 2, 4, 5, 7, 8});
}

TEST_CASE("a scale stands for the fraction that it was rounded from") {
  const struct {
    float scale;
    std::int64_t size;
    const char *coordinates, *mode;
    Sizes expected;
  } cases[] = {{4.0F / 3, 6, "asymmetric", "floor", {0, 0, 1, 2, 3, 3, 4, 5}},
               {1.0F / 3, 10, "asymmetric", "floor", {0, 3, 6}},
               {0.6F, 10, "asymmetric", "floor", {0, 1, 3, 5, 6, 8}},
               {0.7F, 10, "half_pixel", "round_prefer_floor", {0, 2, 3, 4, 6, 7, 9}},
               {0.7F, 10, "align_corners", "round_prefer_floor", {0, 1, 3, 4, 6, 7, 9}},
               {0.9F, 10, "half_pixel", "round_prefer_floor", {0, 1, 2, 3, 4, 6, 7, 8, 9}},
               {2, 4, "tf_half_pixel_for_nn", "floor", {0, 0, 1, 1, 2, 2, 3, 3}},
               {0.5F, 6, "tf_half_pixel_for_nn", "floor", {1, 3, 5}}};
  for (const auto& one : cases) {
    CAPTURE(one.scale);
    CAPTURE(std::string(one.coordinates));
    const Proto scale = tensor("b", kFloat, {1}, raw<float>({one.scale}));
    for (const Dim& size : {Dim(one.size), Dim("N")}) {
      CHECK(computed_by<std::int64_t>(
                "Resize", {size}, counted(one.size), {Proto(), scale},
                {attribute("coordinate_transformation_mode", one.coordinates), attribute("nearest_mode", one.mode)},
                kInt64) == one.expected);
    }
  }
}

TEST_CASE("images of open size are interpolated as those of known size") {
  const Reals x = {3, -1, 4, 1, -5, 9, 2};
  for (const char* coordinates : {"asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel",
                                  "half_pixel_symmetric", "tf_half_pixel_for_nn"}) {
    for (const float scale : {0.5F, 2.0F / 3, 1.25F, 2.0F, 0.15F}) {
      for (const auto& [mode, outside, antialias] : std::vector<std::tuple<const char*, int, int>>{{"linear", 0, 0},
                                                                                                   {"linear", 0, 1},
                                                                                                   {"linear", 1, 0},
                                                                                                   {"cubic", 0, 0},
                                                                                                   {"cubic", 1, 0},
                                                                                                   {"cubic", 0, 1}}) {
        CAPTURE(coordinates);
        CAPTURE(scale);
        CAPTURE(mode);
        const auto resized = [&](const Dim& size) {
          return computed_by("Resize", {size}, x, {Proto(), tensor("b", kFloat, {1}, raw<float>({scale}))},
                             {attribute("coordinate_transformation_mode", coordinates), attribute("mode", mode),
                              attribute("exclude_outside", outside), attribute("antialias", antialias)});
        };
        const Reals open = resized("N"), known = resized(7);
        REQUIRE(open.size() == known.size());
        for (std::size_t i = 0; i < open.size(); ++i) CHECK(open[i] == doctest::Approx(known[i]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("bytes are interpolated, rounded and saturated") {
  const std::vector<std::uint8_t> x = {0, 10, 255};
  CHECK(computed_by<std::uint8_t>("Resize", {3}, x, {Proto(), Proto(), integers("c", {7})},
                                  {attribute("mode", "linear")},
                                  kUint8) == std::vector<std::uint8_t>{0, 1, 6, 10, 115, 220, 255});
  const std::vector<std::uint8_t> flat(5, 7);
  CHECK(computed_by<std::uint8_t>("Resize", {5}, flat, {Proto(), Proto(), integers("c", {13})},
                                  {attribute("mode", "linear")}, kUint8) == std::vector<std::uint8_t>(13, 7));
}

TEST_CASE("a cubic resize that excludes what is outside does not multiply it by 0") {
  const std::vector<float> y =
      computed_by("Resize", {4}, Reals{kInfinity, 1, 1, 1}, {Proto(), Proto(), integers("c", {8})},
                  {attribute("mode", "cubic"), attribute("exclude_outside", 1)});
  CHECK(y[0] == kInfinity);
  CHECK(y[7] == doctest::Approx(1));
  CHECK(computed_by("Resize", {"N"}, Reals{kInfinity, 1, 1, 1}, {Proto(), Proto(), integers("c", {8})},
                    {attribute("mode", "cubic"), attribute("exclude_outside", 1)})[7] == doctest::Approx(1));
}

TEST_CASE("means of integers are integers that are rounded towards zero") {
  CHECK(computed_by<std::int64_t>("ReduceMean", {2, 3}, Sizes{1, 2, 4, -1, -2, -5}, {integers("a", {1})}, {}, kInt64) ==
        Sizes{2, -2});
  const std::vector<std::int32_t> large(3, std::numeric_limits<std::int32_t>::max());
  CHECK(computed_by<std::int32_t>("ReduceMean", {3}, large, {}, {}, kInt32) == std::vector<std::int32_t>{large[0]});
  ModelBytes open;
  open.opset = 18;
  open.input("x", {"N"}, kInt64).node("ReduceMean", {"x"}, {"y"}).output("y");
  CHECK(computed<std::int64_t>(open, Sizes{5, 6, 8, 9}, {{"N", 4}}) == Sizes{7});
  CHECK(computed_by<std::int64_t>("ReduceL2", {3}, Sizes{3, 4, 1}, {}, {}, kInt64) == Sizes{5});
}

TEST_CASE("the logarithm of a sum of powers of infinities is infinite") {
  const auto reduced = [](float a, float b) { return computed_by("ReduceLogSumExp", {2}, Reals{a, b}).at(0); };
  CHECK(reduced(-kInfinity, -kInfinity) == -kInfinity);
  CHECK(reduced(-kInfinity, 2) == 2);
  CHECK(reduced(kInfinity, 2) == kInfinity);
  CHECK(reduced(kInfinity, -kInfinity) == kInfinity);
  CHECK(std::isnan(reduced(std::nanf(""), 2)));
  CHECK(reduced(1000, 1000) == doctest::Approx(1000 + std::log(2.0)));
}

TEST_CASE("windows that begin behind the input do not count") {
  const auto pooled = [](const char* op, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                         const Sizes& pads) {
    Reals x;
    for (std::int64_t i = 0; i < size; ++i) x.push_back(static_cast<float>(i + 1));
    return computed_by(op, {1, 1, size}, x, {},
                       {attribute("kernel_shape", {kernel}), attribute("strides", {stride}), attribute("pads", pads),
                        attribute("ceil_mode", 1)});
  };
  CHECK(pooled("LpPool", 4, 1, 2, {0, 0}) == Reals{1, 3});
  CHECK(pooled("LpPool", 4, 1, 2, {0, 1}) == Reals{1, 3});
  CHECK(pooled("LpPool", 5, 2, 2, {0, 0}) == Reals{std::sqrt(5.0F), 5, 5});
  CHECK(pooled("MaxPool", 4, 1, 2, {0, 0}) == Reals{1, 3});
}

TEST_CASE("a window that is rounded up may exceed the input") {
  const std::vector<Proto> window = {attribute("kernel_shape", {3}), attribute("strides", {2}),
                                     attribute("ceil_mode", 1)};
  CHECK(computed_by("MaxPool", {1, 1, 2}, Reals{1, 2}, {}, window) == Reals{2});
  CHECK(computed_by("AveragePool", {1, 1, 2}, Reals{1, 2}, {}, window) == Reals{1.5F});
  CHECK(computed_by("LpPool", {1, 1, 2}, Reals{3, 4}, {}, window) == Reals{5});
}

TEST_CASE("the indices of maxima are counted in windows that are rounded up, and never those of padding") {
  const auto indices = [](const std::vector<std::int8_t>& x, const std::vector<Proto>& attributes) {
    ModelBytes model;
    model.input("x", {1, 1, static_cast<std::int64_t>(x.size())}, 3);
    model.node("MaxPool", {"x"}, {"v", "y"}, attributes).output("y");
    return computed<std::int64_t>(model, x);
  };
  CHECK(indices({0, 1, 2, 3, 4}, {attribute("kernel_shape", {2}), attribute("strides", {2}),
                                  attribute("ceil_mode", 1)}) == Sizes{1, 3, 4});
  CHECK(indices({-128, -128}, {attribute("kernel_shape", {2}), attribute("pads", {1, 1})}) == Sizes{0, 0, 1});
}

TEST_CASE("images are sampled beyond their borders") {
  const auto sampled = [](const Reals& image, const Reals& place, const char* mode, const char* padding) {
    const auto size = static_cast<std::int64_t>(std::lround(std::sqrt(image.size())));
    return computed_by("GridSample", {1, 1, size, size}, image, {tensor("a", kFloat, {1, 1, 1, 2}, raw<float>(place))},
                       {attribute("mode", mode), attribute("padding_mode", padding)})
        .at(0);
  };
  Reals image;
  for (int i = 0; i < 16; ++i) image.push_back(static_cast<float>(i));
  CHECK(sampled(image, {-1, -1}, "cubic", "border") == doctest::Approx(-0.46875));
  CHECK(sampled(image, {1e30F, -1e30F}, "cubic", "border") == doctest::Approx(3));
  CHECK(sampled(image, {-1.5F, -1.2F}, "cubic", "reflection") == doctest::Approx(0.136250).epsilon(1e-4));
  image[0] = kInfinity;
  image[3] = -kInfinity;
  CHECK(sampled(image, {1, -1}, "linear", "border") == -kInfinity);
  image[5] = kInfinity;
  CHECK(sampled(image, {-0.2F, -1.3F}, "linear", "border") == doctest::Approx(1.1));
  image[5] = 5;
  for (const char* mode : {"linear", "nearest", "cubic"}) {
    CHECK(computed_by("GridSample", {1, 1, 1, 1}, Reals{2}, {tensor("a", kFloat, {1, 1, 1, 2}, raw<float>({0.3F, 5}))},
                      {attribute("mode", mode), attribute("padding_mode", "reflection"), attribute("align_corners", 1)})
              .at(0) == doctest::Approx(2));
  }
  CHECK(sampled(image, {-3, -3}, "linear", "zeros") == 0);
  CHECK(sampled(image, {-3, -3}, "nearest", "zeros") == 0);
  CHECK(sampled(image, {-3, -3}, "cubic", "zeros") == 0);
}

TEST_CASE("padding with an integer is exact") {
  const auto padded = [](std::int64_t value) {
    return computed_by<std::int64_t>("Pad", {1}, Sizes{1}, {integers("a", {0, 1}), number("b", value)}, {}, kInt64);
  };
  for (const std::int64_t value : {kMost, -kMost - 1, (std::int64_t{1} << 53) + 1})
    CHECK(padded(value) == Sizes{1, value});
  constexpr std::int64_t kUint64 = 13;
  const std::vector<std::uint64_t> most = {std::numeric_limits<std::uint64_t>::max()};
  CHECK(computed_by<std::uint64_t>("Pad", {1}, most, {integers("a", {1, 0}), tensor("b", kUint64, {}, raw(most))}, {},
                                   kUint64) == std::vector<std::uint64_t>{most[0], most[0]});
}

TEST_CASE("padding takes a value that the network computes") {
  ModelBytes model;
  model.input("x", {2}).initializer(integers("pads", {1, 2})).initializer(integers("axes", {0}));
  model.node("ReduceMax", {"x"}, {"most"}, {attribute("keepdims", 0)}).node("Pad", {"x", "pads", "most"}, {"y"});
  CHECK(computed<float>(model.output("y"), Reals{3, 5}) == Reals{5, 3, 5, 5, 5});
}

TEST_CASE("negative padding takes elements away, and no more than there are") {
  const auto padded = [](const char* mode, const Sizes& pads, const Dim& size = 3) {
    ModelBytes model;
    model.input("x", {size}).initializer(integers("pads", pads));
    model.node("Pad", {"x", "pads"}, {"y"}, {attribute("mode", mode)}).output("y");
    return computed<float>(model, Reals{1, 2, 3}, {{"N", 3}});
  };
  for (const Dim& size : {Dim(3), Dim("N")}) {
    CHECK(padded("constant", {-4, 5}, size) == Reals{0, 0, 0, 0});
    CHECK(padded("constant", {5, -4}, size) == Reals{0, 0, 0, 0});
    CHECK(padded("constant", {-1, 2}, size) == Reals{2, 3, 0, 0});
    CHECK(padded("constant", {1, -1}, size) == Reals{0, 1, 2});
  }
  CHECK(padded("constant", {-3, 0}).empty());
  CHECK(padded("wrap", {-1, 2}) == Reals{2, 3, 2, 3});
  CHECK(padded("wrap", {2, -1}) == Reals{1, 2, 1, 2});
  CHECK(padded("reflect", {-1, 1}) == Reals{2, 3, 2});
  CHECK(padded("edge", {-1, 1}) == Reals{2, 3, 3});
  ModelBytes model;
  model.input("x", {3}).initializer(integers("pads", {-4, 0})).node("Pad", {"x", "pads"}, {"y"}, {}, "n").output("y");
  CHECK(refusal_of(model) == "node 'n' (Pad, opset 17): expected padding that leaves 0 elements or more, got -1");
}

TEST_CASE("constants are padded as computed tensors are") {
  ModelBytes model;
  model.input("x", {1})
      .initializer(tensor("c", kFloat, {3}, raw<float>({1, 2, 3})))
      .initializer(integers("p", {-4, 5}));
  model.node("Pad", {"c", "p"}, {"q"}).node("Add", {"q", "x"}, {"y"}).output("y");
  CHECK(computed<float>(model, Reals{1}) == Reals{1, 1, 1, 1});
}

TEST_CASE("functions keep the digits of small results, and NaN") {
  CHECK(computed_by("Softplus", {1}, Reals{-20}).at(0) == doctest::Approx(2.06115e-9));
  CHECK(computed_by("Mish", {1}, Reals{-20}).at(0) == doctest::Approx(-20 * 2.06115e-9));
  for (const char* op : {"Elu", "Celu"}) CHECK(computed_by(op, {1}, Reals{-1e-9F}).at(0) == doctest::Approx(-1e-9));
  CHECK(computed_by("Selu", {1}, Reals{-1e-9F}).at(0) == doctest::Approx(-1e-9 * 1.6732632 * 1.0507010));
  const Reals signs = computed_by("Sign", {4}, Reals{std::nanf(""), -2, 0, kInfinity});
  CHECK(std::isnan(signs[0]));
  CHECK(Reals(signs.begin() + 1, signs.end()) == Reals{-1, 0, 1});
  CHECK(std::isnan(computed_by("Acosh", {1}, Reals{-1e10F}).at(0)));
}

TEST_CASE("integers of 16 bits are dequantized and quantized by a scale of float16") {
  constexpr std::uint16_t kHalf = 0x3800;  // 0.5
  const std::vector<std::uint16_t> x = {65535, 40001};
  CHECK(computed_by<std::uint16_t>("DequantizeLinear", {2}, x, {tensor("a", kFloat16, {}, raw<std::uint16_t>({kHalf}))},
                                   {}, kUint16) == std::vector<std::uint16_t>{0x7800, 0x74e2});  // 32768, 20000
  ModelBytes model;
  model.opset = 22;
  model.input("x", {2}).initializer(tensor("s", kFloat16, {}, raw<std::uint16_t>({kHalf})));
  model.initializer(tensor("z", kUint16, {}, raw<std::uint16_t>({40001})));
  model.node("Cast", {"x"}, {"h"}, {attribute("to", kFloat16 + 0)}).node("QuantizeLinear", {"h", "s", "z"}, {"y"});
  CHECK(computed<std::uint16_t>(model.output("y"), Reals{3, -30}) == std::vector<std::uint16_t>{40007, 39941});
}

TEST_CASE("powers of integers are exact, modulo the size of their type") {
  const auto power = [](std::int64_t base, std::int64_t exponent, bool is_known) {
    ModelBytes model;
    model.input("x", {1}, kInt64).initializer(integers("e", {exponent})).initializer(integers("zero", {0}));
    if (is_known) return computed<std::int64_t>(model.node("Pow", {"x", "e"}, {"y"}).output("y"), Sizes{base}).at(0);
    model.node("Mul", {"x", "zero"}, {"z"}).node("Add", {"z", "e"}, {"f"}).node("Pow", {"x", "f"}, {"y"});
    return computed<std::int64_t>(model.output("y"), Sizes{base}).at(0);
  };
  for (const bool is_known : {true, false}) {
    CHECK(power(3, 39, is_known) == 4052555153018976267);
    CHECK(power(-3, 3, is_known) == -27);
    CHECK(power(7, 0, is_known) == 1);
    CHECK(power(0, 0, is_known) == 1);
    CHECK(power(3, 41, is_known) == -420491770248316829);
    CHECK(power(2, -1, is_known) == 0);
    CHECK(power(-1, -3, is_known) == -1);
    CHECK(power(1, -5, is_known) == 1);
  }
  CHECK(computed_by<std::int32_t>("Pow", {1}, std::vector<std::int32_t>{46341},
                                  {tensor("a", kFloat, {}, raw<float>({2}))}, {},
                                  kInt32) == std::vector<std::int32_t>{-2147479015});
}

TEST_CASE("powers of narrow floats take exponents of more digits") {
  constexpr std::uint16_t kTwo = 0x4000;  // bits of a float16
  const double exponent = 1.0009;
  ModelBytes model;
  model.input("x", {1}, kFloat16).initializer(tensor("e", kDouble, {}, raw<double>({exponent})));
  model.node("Pow", {"x", "e"}, {"p"}).node("Cast", {"p"}, {"y"}, {attribute("to", kDouble + 0)}).output("y");
  CHECK(computed<double>(model, std::vector<std::uint16_t>{kTwo}).at(0) ==
        doctest::Approx(std::pow(2, exponent)).epsilon(5e-4));
}

TEST_CASE("a product of integers may be scaled by a fraction") {
  const std::vector<std::int32_t> x = {1, 3};
  CHECK(computed_by<std::int32_t>("Gemm", {1, 2}, x, {tensor("a", kInt32, {2, 1}, raw<std::int32_t>({1, 4}))},
                                  {attribute("alpha", 0.5F)}, kInt32) == std::vector<std::int32_t>{6});
  CHECK(computed_by<std::int32_t>(
            "Gemm", {1, 2}, x,
            {tensor("a", kInt32, {2, 1}, raw<std::int32_t>({1, 4})), tensor("b", kInt32, {1}, raw<std::int32_t>({3}))},
            {attribute("alpha", 3.0F), attribute("beta", 0.5F)}, kInt32) == std::vector<std::int32_t>{40});
}

TEST_CASE("slices take steps of any size, and nothing of nothing") {
  const auto sliced = [](std::int64_t start, std::int64_t end, std::int64_t step, const Dim& size) {
    ModelBytes model;
    model.input("x", {size}).initializer(integers("s", {start})).initializer(integers("e", {end}));
    model.initializer(integers("axes", {0})).initializer(integers("step", {step}));
    model.node("Slice", {"x", "s", "e", "axes", "step"}, {"y"}).output("y");
    return computed<float>(model, Reals{1, 2, 3}, {{"N", 3}});
  };
  for (const Dim& size : {Dim(3), Dim("N")}) {
    CHECK(sliced(0, kMost, kMost, size) == Reals{1});
    CHECK(sliced(1, kMost, std::int64_t{1} << 50, size) == Reals{2});
    CHECK(sliced(kMost, -kMost - 1, -kMost - 1, size) == Reals{3});
    CHECK(sliced(3, kMost, kMost, size).empty());
  }
  ModelBytes model;
  model.input("x", {0}).initializer(integers("s", {10})).initializer(integers("e", {-10}));
  model.initializer(integers("axes", {0})).initializer(integers("step", {-1}));
  model.node("Slice", {"x", "s", "e", "axes", "step"}, {"y"}).output("y");
  CHECK(outputs_of(imported(model)) == "f32[0]");
}

}  // namespace
}  // namespace ferry::test
