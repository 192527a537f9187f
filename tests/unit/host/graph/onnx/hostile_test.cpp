// Files that are no models, or models that lie.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

ModelBytes relu_model() {
  ModelBytes model;
  return model.input("x", {"N", 2}).node("Relu", {"x"}, {"y"}, {}, "act").output("y");
}

ModelBytes add_model(const Proto& weights) {
  ModelBytes model;
  return model.input("x", {2}).initializer(weights).node("Add", {"x", "w"}, {"y"}, {}, "sum").output("y");
}

TEST_CASE("a file that is no ONNX model is refused with the place where it differs") {
  CHECK(refusal_of("def mm(float(M) A) -> (B) {}") ==
        "'net.onnx': expected an ONNX model, got something else at byte 0");
  CHECK(refusal_of("") == "'net.onnx': expected an ONNX model, got one without a graph or a version");
  CHECK(refusal_of(std::string(100, '\xff')) == "'net.onnx': expected an ONNX model, got something else at byte 0");
}

TEST_CASE("a truncated file is refused") {
  const std::string bytes = relu_model().text();
  CHECK(refusal_of(bytes.substr(0, bytes.size() - 3)) ==
        "'net.onnx': it is truncated: its field at byte 8 needs 53 more bytes, got 50");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(refusal_of(bytes.substr(0, size)).starts_with("'net.onnx': "));
  }
}

TEST_CASE("nested messages that are too deep are refused") {
  Proto graph;
  for (int depth = 0; depth < 200; ++depth) {
    const Proto attribute = Proto().bytes(1, "body").message(6, graph).number(20, 5);
    graph = Proto().message(1, Proto().bytes(4, "If").message(5, attribute));
  }
  CHECK(refusal_of(Proto().number(1, 8).message(7, graph).text()) ==
        "'net.onnx': its contents are damaged, or nested deeper than 100 levels");
}

TEST_CASE("a file that protobuf cannot hold is refused before it is read") {
  const std::uint8_t byte = 0;
  const std::span<const std::uint8_t> bytes(&byte, std::size_t{1} << 31);
  CHECK_THROWS_WITH_AS(graph::onnx::parse_model(bytes, "net.onnx"),
                       "'net.onnx': expected an ONNX model of less than 2 GiB, to which protobuf is limited, got "
                       "2,147,483,648 bytes; save its tensors as external data",
                       UsageError);
}

TEST_CASE("versions that ferry does not know are refused") {
  ModelBytes model = relu_model();
  model.ir_version = 2;
  CHECK(refusal_of(model) == "'net.onnx': expected IR version 3 to 14, got 2");
  model = relu_model();
  model.opset = 99;
  CHECK(refusal_of(model) == "'net.onnx': expected ai.onnx opset 6 to 28, got 99");
  model.domain = "com.example";
  CHECK(refusal_of(model) ==
        "node 'act' (Relu): expected the model to name an opset of the domain 'ai.onnx', got none");
}

TEST_CASE("a tensor whose size overflows or is negative is refused") {
  CHECK(refusal_of(add_model(tensor("w", kFloat, {std::int64_t{1} << 40, std::int64_t{1} << 40}, ""))) ==
        "'net.onnx': initializer 'w': expected fewer than 2^63 bytes");
  CHECK(refusal_of(add_model(tensor("w", kFloat, {-1}, ""))) ==
        "'net.onnx': initializer 'w': expected sizes of 0 or more, got -1");
  ModelBytes model;
  model.input("x", {std::int64_t{1} << 62, 8}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(refusal_of(model) == "input 'x': expected sizes from 0 to 2^40, got 4611686018427387904");
}

TEST_CASE("sizes whose product overflows are refused where they are multiplied") {
  const std::int64_t large = std::int64_t{1} << 40;
  ModelBytes model;
  model.input("x", {large, large}).node("Flatten", {"x"}, {"y"}, {attribute("axis", 0)}, "flat").output("y");
  CHECK(refusal_of(model).starts_with("node 'flat' (Flatten, opset 17): expected sizes below 2^62, got "));
}

TEST_CASE("contents that do not fit the declared type and shape are refused") {
  CHECK(refusal_of(add_model(tensor("w", kFloat, {2}, "12345"))) ==
        "'net.onnx': initializer 'w': expected 8 bytes of f32, got 5");
  CHECK(refusal_of(add_model(tensor("w", kFloat, {2}).number(7, 1).number(7, 2))) ==
        "'net.onnx': initializer 'w': expected elements of f32 in the field float_data, got some in another");
  CHECK(refusal_of(add_model(tensor("w", kUint8, {1}).number(5, 300))) ==
        "'net.onnx': initializer 'w': expected elements that fit its type, got 300");
  CHECK(refusal_of(add_model(tensor("w", kBool, {1}, "\x02"))) ==
        "'net.onnx': initializer 'w': expected bools of 0 or 1, got 2");
  CHECK(refusal_of(add_model(tensor("w", kDouble, {2}, std::string(16, '\0')))) ==
        "node 'sum' (Add, opset 17): expected inputs of one type, got f32 and f64");
}

TEST_CASE("elements in fields of their type are the same as raw ones") {
  const graph::Graph graph = imported(add_model(tensor("w", kFloat, {2}).real(4, 1.5F).real(4, -2.0F)));
  const auto& bytes = graph.tensor(graph.nodes[0].inputs[1]).constant->bytes;
  CHECK(std::string(bytes.begin(), bytes.end()) == raw<float>({1.5F, -2.0F}));
}

TEST_CASE("weights may be NaN") {
  const graph::Graph graph = imported(add_model(tensor("w", kFloat, {1}, raw<float>({std::nanf("")}))));
  float weight = 0;
  std::memcpy(&weight, graph.tensor(graph.nodes[0].inputs[1]).constant->bytes.data(), sizeof weight);
  CHECK(std::isnan(weight));
}

TEST_CASE("a cycle is refused") {
  ModelBytes model;
  model.input("x", {2}).node("Add", {"x", "b"}, {"a"}, {}, "first").node("Relu", {"a"}, {"b"}).output("b");
  CHECK(refusal_of(model) == "node 'first' (Add): expected no cycle, got an input that depends on it");
}

TEST_CASE("a tensor that nothing provides is refused") {
  ModelBytes model;
  model.input("x", {2}).node("Add", {"x", "w"}, {"y"}, {}, "sum").output("y");
  CHECK(refusal_of(model) ==
        "node 'sum' (Add): expected 'w' to be an input, an initializer or computed by a node, got none of that name");
  CHECK(refusal_of(relu_model().output("z")) == "output 'z': expected a tensor that the model computes, got none");
}

TEST_CASE("names that two things have are refused") {
  CHECK(refusal_of(relu_model().node("Relu", {"x"}, {"y"}, {}, "again")) ==
        "node 'again' (Relu): expected outputs that nothing else provides, got 'y'");
  CHECK(refusal_of(relu_model().input("x", {2})) == "'net.onnx': input 'x': expected a name of its own");
  CHECK(refusal_of(add_model(floats("w", {2})).initializer(floats("w", {2}))) ==
        "'net.onnx': initializer 'w': expected a name of its own");
}

TEST_CASE("an attribute that the operator does not have, or has with another type, is refused") {
  ModelBytes model;
  model.input("x", {2}).node("Relu", {"x"}, {"y"}, {attribute("alpha", 1.0F)}, "act").output("y");
  CHECK(refusal_of(model) == "node 'act' (Relu, opset 17): expected no attribute 'alpha', got a float");
  ModelBytes flatten;
  flatten.input("x", {2, 3}).node("Flatten", {"x"}, {"y"}, {attribute("axis", "one")}, "f").output("y");
  CHECK(refusal_of(flatten) ==
        "node 'f' (Flatten, opset 17): expected the attribute 'axis' with an integer, got a text");
  ModelBytes concat;
  concat.input("x", {2, 3}).node("Concat", {"x", "x"}, {"y"}, {}, "c").output("y");
  CHECK(refusal_of(concat) == "node 'c' (Concat, opset 17): expected the attribute 'axis' with an integer, got none");
  ModelBytes twice;
  twice.input("x", {2, 3}).node("Flatten", {"x"}, {"y"}, {attribute("axis", 1), attribute("axis", 0)}, "f").output("y");
  CHECK(refusal_of(twice) == "'net.onnx': node 'f' (Flatten): expected attribute 'axis' once, got it twice");
}

TEST_CASE("inputs that are no tensors of known rank are refused") {
  ModelBytes complex;
  constexpr int kComplex64 = 14;
  complex.input("x", {2}, kComplex64).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(refusal_of(complex) == "input 'x': expected a tensor of a type that ferry has, got complex64");
  ModelBytes texts;
  texts.input("x", {2}, kString).node("Relu", {"x"}, {"y"}, {}, "n").output("y");
  CHECK(refusal_of(texts) == "node 'n' (Relu, opset 17): expected a tensor 'x' of numbers, got texts");
  ModelBytes unranked;
  const Proto type = Proto().message(1, Proto().number(1, kFloat));
  unranked.input(Proto().bytes(1, "x").message(2, type)).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(refusal_of(unranked) == "input 'x': expected a shape, of which single sizes may be open, got none");
}

TEST_CASE("names with control characters are shown escaped") {
  ModelBytes model;
  model.input("x", {2}).node("Evil\x1b[2J", {"x"}, {"y"}, {}, "a\nb").output("y");
  CHECK(refusal_of(model) == "node 'a\\nb' (Evil\\x1b[2J, opset 17): ferry does not import this operator");
}

TEST_CASE("a node with too few inputs is refused") {
  ModelBytes model;
  model.input("x", {2}).node("Add", {"x"}, {"y"}, {}, "sum").output("y");
  CHECK(refusal_of(model) == "node 'sum' (Add, opset 17): expected at least 2 inputs, got 1");
}

TEST_CASE("operators that become more nodes than a plan has steps are refused while they are imported") {
  ModelBytes model;
  model.input("x", {8, 1, 1}).initializer(floats("w", {1, 4, 1})).initializer(floats("r", {1, 4, 1}));
  for (int i = 0; i < 1000; ++i) {
    const std::string y = "y" + std::to_string(i);
    model.node("LSTM", {"x", "w", "r"}, {y}, {}, "n" + y).output(y);
  }
  CHECK(refusal_of(model) == "expected a network of at most 65536 nodes, got more");
}

}  // namespace
}  // namespace ferry::test
