// Initializers of types that nothing computes with. An end-to-end test compares all values with those of ml_dtypes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "host/graph/onnx/stored_types.h"
#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

constexpr std::int64_t kUint4 = 21, kInt4 = 22, kFloat8 = 17;

// x times a matrix of 4 bits, [64, 70], with a scale for each column, or for each block of the depth.
ModelBytes product(std::int64_t type, const std::vector<Proto>& attributes, const std::vector<std::int64_t>& scales) {
  ModelBytes model;
  model.opset = 21;
  std::size_t count = sizeof(float);
  for (const std::int64_t size : scales) count *= static_cast<std::size_t>(size);
  model.input("x", {"N", 64}).initializer(tensor("w", type, {64, 70}, std::string(32 * 70, '\x5a')));
  model.initializer(tensor("s", kFloat, scales, std::string(count, '\0')));
  model.node("DequantizeLinear", {"w", "s"}, {"d"}, attributes, "d");
  return model.node("MatMul", {"x", "d"}, {"y"}, {}, "n").output("y");
}

std::size_t constant_bytes(const graph::Graph& graph) {
  std::size_t bytes = 0;
  for (const graph::Tensor& one : graph.tensors)
    if (one.constant != nullptr) bytes += one.constant->bytes.size();
  return bytes;
}

TEST_CASE("a product with a stored matrix of 4 bits keeps it packed") {
  const auto expect_packed = [](const ModelBytes& model, std::size_t bytes) {
    const graph::Graph graph = imported(model);
    CHECK(text_of(graph).find("packed_matmul") != std::string::npos);
    CHECK(text_of(graph).find("gather") == std::string::npos);
    CHECK(constant_bytes(graph) == bytes);
  };
  // Two panels of 64 columns.
  expect_packed(product(kInt4, {attribute("axis", 1)}, {70}), 2 * 64 * (32 + 4));
  expect_packed(product(kUint4, {attribute("axis", 1)}, {70}), 2 * 64 * (32 + 4 + 1));
  expect_packed(product(kInt4, {attribute("axis", 0), attribute("block_size", 16)}, {4, 70}), 2 * 64 * (32 + 4 * 4));
}

TEST_CASE("blocks of columns are decoded in front of the product") {
  const std::string text =
      text_of(imported(product(kInt4, {attribute("axis", 1), attribute("block_size", 10)}, {64, 7})));
  CHECK(text.find("packed_matmul") == std::string::npos);
  CHECK(text.find("matmul") != std::string::npos);
}

TEST_CASE("stored weights of another number of bytes are refused") {
  const auto refusal = [](std::int64_t type, const std::string& data) {
    ModelBytes model;
    model.input("x", {5}).initializer(tensor("w", type, {5}, data));
    model.node("Cast", {"w"}, {"c"}, {attribute("to", 1)}, "c").node("Add", {"c", "x"}, {"y"}, {}, "n");
    return refusal_of(model.output("y"));
  };
  CHECK(refusal(kInt4, "ab") == "'net.onnx': initializer 'w': expected 3 bytes of int4, got 2");
  CHECK(refusal(kFloat8, "abc") == "'net.onnx': initializer 'w': expected 5 bytes of float8e4m3fn, got 3");
  CHECK(refusal(kInt4, "abc").starts_with("imported "));
}

TEST_CASE("operators that do not decode stored weights refuse them") {
  ModelBytes model;
  model.input("x", {5}).initializer(tensor("w", kInt4, {5}, "abc"));
  model.node("Add", {"w", "x"}, {"y"}, {}, "n").output("y");
  CHECK(refusal_of(model) == "node 'n' (Add, opset 17): expected a tensor 'w' of a type that ferry has, got int4");
  ModelBytes scale;
  scale.opset = 21;
  scale.input("x", {5}, kUint8).initializer(tensor("s", kFloat8, {}, "a"));
  scale.node("DequantizeLinear", {"x", "s"}, {"y"}, {}, "n").output("y");
  CHECK(refusal_of(scale) ==
        "node 'n' (DequantizeLinear, opset 21): expected a tensor of a type that ferry has, got float8e4m3fn");
}

TEST_CASE("the greatest numbers of stored floats") {
  const std::vector<float> e4m3 = graph::onnx::stored_values("float8e4m3fn");
  CHECK(e4m3[0x7e] == 448);
  CHECK(e4m3[0x7f] != e4m3[0x7f]);
  CHECK(e4m3[1] == 0x1p-9F);
  CHECK(graph::onnx::stored_values("float8e5m2")[0x7b] == 57344);
  CHECK(graph::onnx::stored_values("int4")[8] == -8);
  CHECK(graph::onnx::stored_bits("float") == 0);
}

TEST_CASE("a refused operator of ONNX Runtime is told with what to do instead") {
  ModelBytes model;
  model.domain = "com.microsoft";
  model.opset = 1;
  model.input("x", {5}).node("EmbedLayerNormalization", {"x"}, {"y"}, {}, "n", "com.microsoft").output("y");
  CHECK(refusal_of(model).find("--disable_embed_layer_norm") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
