// Tests that the kernels in examples/ compute the same as the operators of the same name.
#include "ferry/lang/text.h"
#include "ferry/ops/convolution.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/matmul.h"
#include "ferry/ops/normalization.h"
#include "ferry/ops/pooling.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/shapes.h"
#include "tests/paths.h"
#include "tests/unit/host/ops/evaluate.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ferry;
using namespace ferry::ops;
using lang::var;

namespace {

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

lang::Program example(const std::string& file, const std::string& name) {
  const std::string path = std::string(FERRY_SOURCE_DIR) + "/examples/" + file + ".tc";
  for (lang::Program& program : lang::parse(read(path), file + ".tc")) {
    if (program.name == name) return program;
  }
  FAIL("no def '" << name << "' in " << path);
  return {};
}

// Returns the only output of a program whose inputs are float tensors and int64 scalars, in the parameters' order.
Image run(const lang::Program& program, std::vector<Image> tensors, const std::vector<std::int64_t>& scalars = {}) {
  std::map<const ir::ExprNode*, std::int64_t> known;
  std::vector<const void*> arguments;
  std::size_t next_tensor = 0, next_scalar = 0, output = 0;
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const lang::Parameter& parameter = program.parameters[i];
    if (parameter.kind == ParameterKind::scalar) {
      known[parameter.scalar.get()] = scalars.at(next_scalar);
      arguments.push_back(&scalars.at(next_scalar++));
      continue;
    }
    if (parameter.direction == Direction::out) {
      output = i;
      arguments.push_back(nullptr);
      continue;
    }
    const Image& image = tensors.at(next_tensor++);
    for (std::size_t d = 0; d < image.shape.size(); ++d) known[parameter.tensor.shape()[d].get()] = image.shape[d];
    arguments.push_back(image.values.data());
  }
  std::vector<std::int64_t> symbols;
  for (const Expr& symbol : lang::symbols_of(program)) symbols.push_back(known.at(symbol.get()));
  const lang::Reference reference(program, symbols, arguments);
  Image result{reference.shape(output), {}};
  const std::vector<std::byte> bytes = reference.evaluate_all(output);
  result.values.resize(bytes.size() / sizeof(float));
  std::memcpy(result.values.data(), bytes.data(), bytes.size());
  return result;
}

void check_same(const Image& got, const Image& expected) {
  REQUIRE(got.shape == expected.shape);
  for (std::size_t i = 0; i < got.values.size(); ++i) {
    CAPTURE(i);
    CHECK(static_cast<double>(got.values[i]) == doctest::Approx(static_cast<double>(expected.values[i])).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("every example is accepted") {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".tc") continue;
    ++found;
    CHECK_NOTHROW(lang::parse(read(entry.path()), entry.path().filename().string()));
  }
  CHECK(found >= 10);
}

TEST_CASE("the element-wise examples") {
  const Tensor a = input({var("M"), 1}, "A"), b = input({a.shape()[0], var("N")}, "B"),
               r = input({1, b.shape()[1]}, "R");
  const Image column = random_image({5, 1}, 1), matrix = random_image({5, 7}, 2), row = random_image({1, 7}, 3);
  check_same(run(example("05_broadcast", "add_column"), {column, matrix}),
             evaluate(add(a, b, "C"), {a, b}, {column, matrix}));
  check_same(run(example("05_broadcast", "outer_product"), {column, row}),
             evaluate(mul(a, r, "C"), {a, r}, {column, row}));
  const Tensor x = input({var("N")}, "A"), y = input({x.shape()[0]}, "B");
  const Image p = random_image({13}, 1), q = random_image({13}, 2);
  check_same(run(example("01_vector_add", "vector_add"), {p, q}), evaluate(add(x, y, "C"), {x, y}, {p, q}));
}

TEST_CASE("the examples over matrices") {
  const Expr m = var("M"), n = var("N"), k = var("K");
  const Tensor a = input({m, k}, "A"), b = input({k, n}, "B");
  const Image x = random_image({5, 9}, 1), y = random_image({9, 7}, 2);
  check_same(run(example("10_matmul", "matmul"), {x, y}), evaluate(matmul(a, b, "C"), {a, b}, {x, y}));
  check_same(run(example("08_row_sum", "row_sum"), {x}), evaluate(row_sum(a, "S"), {a}, {x}));
  check_same(run(example("08_row_sum", "total"), {x}), evaluate(sum(a, {}, "S"), {a}, {x}));
  check_same(run(example("06_transpose", "transpose"), {x}), evaluate(transpose(a, "T"), {a}, {x}));
  check_same(run(example("06_transpose", "flatten"), {x}), evaluate(reshape(a, {m * k}, "T"), {a}, {x}));
  check_same(run(example("06_transpose", "tril"), {x}), evaluate(tril(a, "T"), {a}, {x}));
  check_same(run(example("18_softmax", "softmax"), {x}), evaluate(softmax(a, 1, "T"), {a}, {x}));
  const Image v = random_image({23}, 3);
  const Tensor c = input({n}, "C");
  check_same(run(example("06_transpose", "strided_slice"), {v}, {2, 3}),
             evaluate(slice(c, {2}, {3}, {7}, "T"), {c}, {v}));
}

TEST_CASE("the examples over images") {
  const Tensor x = input({var("N"), var("C"), var("H"), var("W")}, "X");
  const Tensor k = input({var("O"), x.shape()[1], var("KH"), var("KW")}, "K");
  const Image image = random_image({2, 3, 11, 9}, 1), kernel = random_image({4, 3, 3, 3}, 2),
              each = random_image({3, 3, 3}, 3);
  check_same(run(example("13_conv2d", "conv2d"), {image, kernel}),
             evaluate(conv2d(x, k, convolution(1, 0), "Y"), {x, k}, {image, kernel}));
  check_same(run(example("13_conv2d", "conv2d_3x3"), {image, kernel}),
             evaluate(conv2d(x, k, convolution(1, 1), "Y"), {x, k}, {image, kernel}));
  check_same(run(example("13_conv2d", "conv2d_strided"), {image, kernel}, {3, 2}),
             evaluate(conv2d(x, k, convolution(3, 2), "Y"), {x, k}, {image, kernel}));
  const Tensor d = input({x.shape()[1], 1, var("KH"), var("KW")}, "D");
  Image filters = each;
  filters.shape = {3, 1, 3, 3};
  check_same(run(example("15_depthwise", "depthwise_conv2d"), {image, each}),
             evaluate(depthwise_conv2d(x, d, convolution(1, 0), "Y"), {x, d}, {image, filters}));
  check_same(run(example("16_pooling", "max_pool"), {image}),
             evaluate(max_pool2d(x, pooling(2, 2, 0), "Y"), {x}, {image}));
  check_same(run(example("16_pooling", "avg_pool"), {image}),
             evaluate(avg_pool2d(x, pooling(2, 2, 0), "Y"), {x}, {image}));
  check_same(run(example("16_pooling", "max_pool_padded"), {image}),
             evaluate(max_pool2d(x, pooling(3, 2, 1), "Y"), {x}, {image}));
  check_same(run(example("16_pooling", "global_avg_pool"), {image}), evaluate(global_avg_pool2d(x, "Y"), {x}, {image}));
}

TEST_CASE("the batch_norm example") {
  const Tensor x = input({var("N"), var("C"), var("H"), var("W")}, "X");
  std::vector<Tensor> tensors{x};
  std::vector<Image> images{random_image({2, 3, 5, 4}, 1)};
  for (const char* name : {"gamma", "beta", "mean", "variance"}) {
    tensors.push_back(input({x.shape()[1]}, name));
    images.push_back(random_image({3}, images.size() + 1));
  }
  for (float& value : images[4].values) value = std::fabs(value) + 0.5f;
  check_same(run(example("17_batch_norm", "batch_norm"), images),
             evaluate(batch_norm(x, tensors[1], tensors[2], tensors[3], tensors[4], "Y"), tensors, images));
}
