#include "tests/fuzz/cases/byte_products.h"

#include <string>
#include <utility>

namespace ferry::fuzz {

namespace {

bool is_drawn(const Random& random, const Tensor& stage, std::size_t inputs) {
  Random copy = random;
  for (int i = 0; i < 9; ++i) copy.below(100);
  return stage.type == DType::i32 && stage.extents.size() >= 2 && inputs + 2 <= kMaxInputs && copy.chance(40);
}

}  // namespace

std::optional<Statement> byte_product(Random& random, const Tensor& stage, const std::vector<NamedAxis>& axes,
                                      std::deque<Tensor>& inputs) {
  if (!is_drawn(random, stage, inputs.size())) return std::nullopt;
  const NamedAxis depth = {"r", {random.of<std::int64_t>({1, 2, 3, 4, 5, 7, 8, 9})}};
  std::vector<NamedAxis> left(axes.begin(), axes.end() - 1), right = {depth, axes.back()};
  left.push_back(depth);
  if (random.chance(50)) std::swap(right[0], right[1]);
  Statement product{stage.name, {}, "+=!", {}, {}};
  for (const NamedAxis& axis : axes) {
    product.axes.push_back(axis.name);
    product.ranges.push_back({axis.name, axis.extent.text()});
  }
  product.ranges.push_back({depth.name, depth.extent.text()});
  std::vector<std::string> factors;
  for (const std::vector<NamedAxis>& factor : {left, right}) {
    Tensor bytes{"A" + std::to_string(inputs.size()), random.chance(50) ? DType::i8 : DType::u8, {}, true};
    std::vector<std::string> indices;
    for (const NamedAxis& axis : factor) {
      bytes.extents.push_back(axis.extent);
      indices.push_back(axis.name);
    }
    factors.push_back("int(" + access(bytes, indices) + ")");
    inputs.push_back(std::move(bytes));
  }
  product.value = {"(" + factors[0] + " * " + factors[1] + ")", DType::i32, {}, true};
  return product;
}

}  // namespace ferry::fuzz
