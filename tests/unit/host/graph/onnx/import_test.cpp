#include <doctest/doctest.h>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

using graph::onnx::Constant;
using graph::onnx::ImportOptions;

Constant integers_of(const Sizes& values) {
  const auto bytes = std::make_shared<std::string>(raw(values));
  const std::span<const std::uint8_t> span(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size());
  return {DType::i64,
          {static_cast<std::int64_t>(values.size())},
          std::make_shared<graph::ConstantData>(graph::ConstantData{span, bytes})};
}

// The first and the last layers of a residual network.
ModelBytes residual_model() {
  const Sizes ones = {1, 1}, twos = {2, 2}, threes = {3, 3}, pads = {1, 1, 1, 1};
  ModelBytes model;
  model.input("x", {"batch", 3, 32, 32});
  for (const Proto& weights : {floats("w1", {8, 3, 3, 3}), floats("b1", {8}), floats("w2", {8, 8, 3, 3}),
                               floats("w", {10, 8}), floats("b", {10})}) {
    model.initializer(weights);
  }
  for (const char* name : {"scale", "shift", "mean", "variance"}) model.initializer(floats(name, {8}));
  model.node("Conv", {"x", "w1", "b1"}, {"c1"}, {attribute("strides", twos), attribute("pads", pads)}, "conv1");
  model.node("Relu", {"c1"}, {"r1"});
  model.node("MaxPool", {"r1"}, {"p1"},
             {attribute("kernel_shape", threes), attribute("strides", twos), attribute("pads", pads)});
  model.node("Conv", {"p1", "w2"}, {"c2"},
             {attribute("kernel_shape", threes), attribute("pads", pads), attribute("group", 1),
              attribute("dilations", ones)});
  model.node("BatchNormalization", {"c2", "scale", "shift", "mean", "variance"}, {"n2"}, {attribute("epsilon", 1e-3F)});
  model.node("Add", {"n2", "p1"}, {"s2"}).node("Relu", {"s2"}, {"r2"});
  model.node("GlobalAveragePool", {"r2"}, {"g"}).node("Flatten", {"g"}, {"f"}, {attribute("axis", 1)});
  model.node("Dropout", {"f"}, {"d"}).node("Gemm", {"d", "w", "b"}, {"y"}, {attribute("transB", 1)}, "fc");
  return model.output("y");
}

TEST_CASE("a residual network becomes graph operators with the batch as a symbol") {
  const graph::Graph graph = imported(residual_model());
  CHECK(text_of(graph) ==
        "conv(x,w1,b1) f32[batch,8,16,16]\n"
        "relu(c1) f32[batch,8,16,16]\n"
        "max_pool(r1) f32[batch,8,8,8]\n"
        "conv(p1,w2) f32[batch,8,8,8]\n"
        "batch_norm(c2,scale,shift,mean,variance) f32[batch,8,8,8]\n"
        "add(n2,p1) f32[batch,8,8,8]\n"
        "relu(s2) f32[batch,8,8,8]\n"
        "reduce_mean(r2) f32[batch,8,1,1]\n"
        "reshape(g) f32[batch,8]\n"
        "matmul(f,w) f32[batch,10]\n"
        "add(fc,b) f32[batch,10]");
  CHECK(graph.symbols == std::vector<std::string>{"batch"});
  CHECK(graph.output_names == std::vector<std::string>{"y"});
  CHECK(graph.nodes[0].name == "conv1");
  CHECK(graph.nodes[1].name == "r1");
}

TEST_CASE("operators are counted, and parameters") {
  const auto imported = graph::onnx::import_model(parsed(residual_model().text()));
  CHECK(imported.parameters == 8 * 27 + 8 + 8 * 72 + 80 + 10 + 4 * 8);
  CHECK(imported.operators.size() == 9);
  CHECK(imported.operators[2].op == "Conv");
  CHECK(imported.operators[2].nodes == 2);
  CHECK(imported.operators[2].is_imported);
}

TEST_CASE("all operators that are not supported are found at once") {
  ModelBytes model;
  model.input("x", {1, 3}).node("Foo", {"x"}, {"a"}, {}, "first").node("Relu", {"a"}, {"b"}).node("Foo", {"b"}, {"c"});
  model.node("Gelu", {"c"}, {"d"}, {}, "gelu").node("Relu", {"x"}, {"e"}, {attribute("alpha", 1)}, "act");
  model.node("Bar", {"x"}, {"f"}, {}, "bar", "com.example");
  CHECK(refusal_of(model.output("d").output("f")) ==
        "node 'bar' (Bar): expected the model to name an opset of the domain 'com.example', got none");
  ModelBytes other;
  other.input("x", {1, 3}).node("Foo", {"x"}, {"a"}, {}, "first").node("Relu", {"a"}, {"b"}).node("Foo", {"b"}, {"c"});
  other.node("Gelu", {"c"}, {"d"}, {}, "gelu").node("Relu", {"x"}, {"e"}, {attribute("alpha", 1)}, "act");
  CHECK(refusal_of(other.output("d")) ==
        "node 'act' (Relu, opset 17): expected no attribute 'alpha', got an integer\n"
        "node 'first' and 1 more (Foo, opset 17): ferry does not import this operator\n"
        "node 'gelu' (Gelu, opset 17): ferry imports this operator of opset 20 to 28 only; "
        "convert the model to one of them with onnx.version_converter");
}

TEST_CASE("sizes without a name are named after their input") {
  ModelBytes model;
  model.input("input.1", {Dim(), 3}).input("other", {"a b", "a_b", -1}).node("Relu", {"input.1"}, {"y"}).output("y");
  const graph::Graph graph = imported(model.node("Relu", {"other"}, {"z"}).output("z"));
  CHECK(outputs_of(graph) == "f32[input_1_0,3] f32[a_b,a_b_2,other_2]");
}

TEST_CASE("the caller may fix a size") {
  CHECK(outputs_of(imported(residual_model(), {.sizes = {{"batch", 4}}})) == "f32[4,10]");
  CHECK(refusal_of(residual_model(), {.sizes = {{"batsch", 4}}}) ==
        "unknown size 'batsch'; the nearest known are batch");
}

TEST_CASE("an input that decides shapes is bound to its contents") {
  ModelBytes model;
  model.input("x", {2, 6}).input("shape", {"rank"}, kInt64).node("Reshape", {"x", "shape"}, {"y"}, {}, "view");
  model.output("y");
  CHECK(outputs_of(imported(model, {.bindings = {{"shape", integers_of({3, -1})}}})) == "f32[3,4]");
  CHECK(
      refusal_of(model) ==
      "node 'view' (Reshape, opset 17): expected the shape to be known when the network is imported, got the computed "
      "tensor 'shape'; bind the input that decides it");
}

TEST_CASE("bindings that do not fit their inputs are refused") {
  ModelBytes model;
  model.input("a", {"n"}, kInt64).input("b", {"n"}, kInt64).node("Add", {"a", "b"}, {"y"}).output("y");
  const Constant two = integers_of({1, 2}), three = integers_of({1, 2, 3});
  CHECK(refusal_of(model, {.bindings = {{"a", two}, {"b", three}}}) ==
        "expected one value of the size 'n', got 2, and 3 from input 'b'");
  CHECK(refusal_of(model, {.sizes = {{"n", 5}}, .bindings = {{"a", two}}}) ==
        "expected one value of the size 'n', got 2, and 5 from the options");
  CHECK(refusal_of(model, {.bindings = {{"c", two}}}) == "unknown input 'c'; the nearest known are a, b");
  ModelBytes reals;
  reals.input("a", {"n"}).node("Relu", {"a"}, {"y"}).output("y");
  CHECK(refusal_of(reals, {.bindings = {{"a", two}}}) == "input 'a': expected a tensor of f32, got i64");
}

TEST_CASE("nodes may stand in any order, and those that nothing needs are left out") {
  ModelBytes model;
  model.input("x", {2}).node("Relu", {"a"}, {"y"}).node("Exp", {"x"}, {"unused"}).node("Neg", {"x"}, {"a"}).output("y");
  CHECK(text_of(imported(model)) == "neg(x) f32[2]\nrelu(a) f32[2]");
}

TEST_CASE("an output may be an input, a constant, or a tensor twice") {
  ModelBytes model;
  model.input("x", {2})
      .initializer(floats("w", {3}))
      .node("Identity", {"x"}, {"y"})
      .output("x")
      .output("y")
      .output("w");
  const graph::Graph graph = imported(model);
  CHECK(text_of(graph).empty());
  CHECK(outputs_of(graph) == "f32[2] f32[2] f32[3]");
  CHECK(graph.output_names == std::vector<std::string>{"x", "y", "w"});
}

TEST_CASE("initializers that are listed as inputs are constants") {
  ModelBytes model;
  model.ir_version = 3;
  model.input("x", {2}).input("w", {2}).initializer(floats("w", {2})).node("Add", {"x", "w"}, {"y"}).output("y");
  CHECK(imported(model).inputs.size() == 1);
}

TEST_CASE("what exporters write for an unknown size does not make all of them equal") {
  for (const char* mark : {"?", "-1", "None", "unk", "*", "", "Dynamic", "undefined"}) {
    ModelBytes model;
    model.input("x", {mark, 3, mark, mark}).node("Relu", {"x"}, {"y"}).output("y");
    CHECK(outputs_of(imported(model)) == "f32[x_0,3,x_2,x_3]");
  }
  ModelBytes model;
  model.input("x", {"N", "N"}).input("z", {"N + 1", "N + 1"}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(outputs_of(imported(model.node("Relu", {"z"}, {"w"}).output("w"))) == "f32[N,N] f32[N___1,N___1]");
}

TEST_CASE("an initializer that is an input may be overridden") {
  ModelBytes model;
  model.input("x", {1}, kInt64).input("n", {1}, kInt64).initializer(integers("n", {2}));
  model.node("Expand", {"x", "n"}, {"y"}).output("y");
  CHECK(outputs_of(imported(model)) == "i64[2]");
  CHECK(outputs_of(imported(model, {.bindings = {{"n", integers_of({5})}}})) == "i64[5]");
  CHECK(refusal_of(model, {.bindings = {{"n", integers_of({5, 5})}}}) == "input 'n': expected 1 as size 0, got [2]");
}

TEST_CASE("sparse initializers are constants") {
  const auto sparse = [](const Sizes& places, const Sizes& dims_of_places, const std::vector<float>& values) {
    const auto count = static_cast<std::int64_t>(values.size());
    Proto proto = Proto().message(1, tensor("w", kFloat, {count}, raw(values)));
    proto.message(2, tensor("", kInt64, dims_of_places, raw(places))).number(3, 2).number(3, 3);
    ModelBytes model;
    model.input("x", {2, 3}).part(15, proto).node("Add", {"x", "w"}, {"y"});
    return model.output("y");
  };
  const auto contents = [](const ModelBytes& model) {
    const graph::Graph graph = imported(model);
    const auto& bytes = graph.tensor(graph.nodes[0].inputs[1]).constant->bytes;
    return std::string(bytes.begin(), bytes.end());
  };
  CHECK(contents(sparse({1, 5}, {2}, {7, 9})) == raw<float>({0, 7, 0, 0, 0, 9}));
  CHECK(contents(sparse({0, 1, 1, 2}, {2, 2}, {7, 9})) == raw<float>({0, 7, 0, 0, 0, 9}));
  CHECK(refusal_of(sparse({1, 6}, {2}, {7, 9})) == "'net.onnx': initializer 'w': expected indices below 6, got 6");
  CHECK(refusal_of(sparse({1, -1}, {2}, {7, 9})) == "'net.onnx': initializer 'w': expected indices below 6, got -1");
  CHECK(refusal_of(sparse({5, 1}, {2}, {7, 9})) ==
        "'net.onnx': initializer 'w': expected indices in ascending order, each once");
  CHECK(refusal_of(sparse({1}, {1}, {7, 9})) ==
        "'net.onnx': initializer 'w': expected int64 indices, one of each value or one of each value and dimension");
  Proto large = Proto().message(1, tensor("w", kFloat, {0}, "")).message(2, tensor("", kInt64, {0}, ""));
  ModelBytes model;
  model.input("x", {1}).part(15, large.number(3, std::int64_t{1} << 40)).node("Relu", {"x"}, {"y"});
  CHECK(refusal_of(model.output("y")) ==
        "'net.onnx': initializer 'w': expected at most 1 GiB of all sparse tensors as dense ones, got more");
}

TEST_CASE("an opset may be named twice if it is the same") {
  const auto model = [](std::int64_t version) {
    ModelBytes bytes;
    bytes.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
    return bytes.model_part(8, Proto().bytes(1, "ai.onnx").number(2, version));
  };
  CHECK(text_of(imported(model(17))) == "relu(x) f32[2]");
  CHECK(refusal_of(model(13)) == "'net.onnx': expected one opset of the domain 'ai.onnx', got 17 and 13");
}

TEST_CASE("a tensor has the shape that is computed, whatever the model declares") {
  ModelBytes model;
  model.input("x", {2, 3}).node("Relu", {"x"}, {"a"}).node("Neg", {"a"}, {"y"}).output("y");
  const std::string expected = "relu(x) f32[2,3]\nneg(a) f32[2,3]";
  ModelBytes same = model;
  CHECK(text_of(imported(same.part(13, value("a", kFloat, {"N", 3})))) == expected);
  CHECK(text_of(imported(model.part(13, value("a", kFloat, {6})))) == expected);
}

}  // namespace
}  // namespace ferry::test
