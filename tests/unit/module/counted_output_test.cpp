#include <doctest/doctest.h>

#include "module/step_description.h"

namespace ferry {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Sizes = std::vector<std::int64_t>;

// A function f(in u8[4] x, out u8[4,2] y, out i64[2] y.shape).
ModuleFile module_with(const std::vector<CountedOutput>& counted) {
  ModuleFile module;
  FunctionInfo& function = module.manifest.functions.emplace_back();
  function.name = "f";
  const auto add = [&](const char* name, DType dtype, Direction direction, const Sizes& shape) {
    ParameterInfo& parameter = function.parameters.emplace_back();
    parameter.name = name;
    parameter.dtype = dtype;
    parameter.direction = direction;
    for (const std::int64_t size : shape) parameter.shape.push_back(manifest_constant(size));
  };
  add("x", DType::u8, Direction::in, {4});
  add("y", DType::u8, Direction::out, {4, 2});
  add("y.shape", DType::i64, Direction::out, {2});
  module.descriptions = encode_step_descriptions({}, counted);
  return module;
}

TEST_CASE("outputs whose sizes depend on data are read as they were written") {
  CHECK(counted_outputs(module_with({{1, 2}})).value() == std::vector<CountedOutput>{{1, 2}});
  CHECK(counted_outputs(module_with({})).value().empty());
  CHECK(step_descriptions(module_with({{1, 2}})).value().empty());
}

TEST_CASE("an output and its shape must be outputs that fit each other") {
  for (const CountedOutput wrong : {CountedOutput{0, 2}, {1, 1}, {1, 0}, {2, 1}, {1, 3}, {3, 2}, {UINT32_MAX, 2}})
    CHECK(counted_outputs(module_with({wrong})).status().code() == ErrorCode::invalid_argument);
}

TEST_CASE("a tensor is cut from its first element on in each dimension") {
  const Bytes room = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const auto cut = [&](const Sizes& from, const Sizes& to) {
    return cut_to_shape(room, 12 / (from.empty() ? 1 : static_cast<std::size_t>(from[0] * from[1])), from, to).value();
  };
  CHECK(cut({3, 4}, {3, 4}) == room);
  CHECK(cut({3, 4}, {2, 3}) == Bytes{0, 1, 2, 4, 5, 6});
  CHECK(cut({3, 2}, {2, 1}) == Bytes{0, 1, 4, 5});
  CHECK(cut({3, 4}, {0, 4}).empty());
  CHECK(cut({3, 4}, {3, 0}).empty());
  CHECK(cut({}, {}) == room);
  CHECK(cut_to_shape(room, 1, Sizes{2, 3, 2}, Sizes{2, 2, 1}).value() == Bytes{0, 2, 6, 8});
  CHECK(cut_to_shape(room, 4, Sizes{3}, Sizes{1}).value() == Bytes{0, 1, 2, 3});
}

TEST_CASE("a shape that there is no room for is refused") {
  const Bytes room(6);
  for (const Sizes& shape : {Sizes{4, 2}, {3, 3}, {-1, 2}, {3}, {3, 2, 1}})
    CHECK(cut_to_shape(room, 1, Sizes{3, 2}, shape).status().code() == ErrorCode::invalid_argument);
  CHECK(!cut_to_shape(room, 1, Sizes{3, 3}, Sizes{1, 1}).is_ok());
}

}  // namespace
}  // namespace ferry
