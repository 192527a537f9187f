// Everything that a network computes about its own shapes is settled when it is imported.
#include <doctest/doctest.h>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

TEST_CASE("a shape that is computed from another with symbols becomes a reshape") {
  // x.view(x.shape[0], -1), as exporters write it.
  ModelBytes model;
  model.input("x", {"N", 3, 4}).initializer(integers("zero", {0})).initializer(integers("rest", {-1}));
  model.node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "zero"}, {"n"})
      .node("Concat", {"n", "rest"}, {"t"}, {attribute("axis", 0)});
  CHECK(text_of(imported(model.node("Reshape", {"x", "t"}, {"y"}).output("y"))) == "reshape(x) f32[N,12]");
}

TEST_CASE("attention's split into heads is computed away") {
  ModelBytes model;
  model.input("x", {"N", "S", 64}).initializer(tensor("i0", kInt64, {}, raw<std::int64_t>({0})));
  model.initializer(tensor("i1", kInt64, {}, raw<std::int64_t>({1}))).initializer(integers("axis", {0}));
  model.initializer(integers("heads", {8})).initializer(integers("rest", {-1}));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "i0"}, {"n"}).node("Gather", {"s", "i1"}, {"t"});
  model.node("Unsqueeze", {"n", "axis"}, {"n1"}).node("Unsqueeze", {"t", "axis"}, {"t1"});
  model.node("Concat", {"n1", "t1", "heads", "rest"}, {"shape"}, {attribute("axis", 0)});
  model.node("Reshape", {"x", "shape"}, {"split"})
      .node("Transpose", {"split"}, {"y"}, {attribute("perm", {0, 2, 1, 3})});
  CHECK(text_of(imported(model.output("y"))) == "reshape(x) f32[N,S,8,8]\ntranspose(split) f32[N,8,S,8]");
}

TEST_CASE("an expansion whose shape chooses between -1 and a size is decided") {
  ModelBytes model;
  model.input("x", {1, 4}).input("like", {"N", 4}).initializer(integers("minus", {-1, -1}));
  model.initializer(integers("ones", {1, 1})).node("Shape", {"like"}, {"s"}).node("Equal", {"s", "minus"}, {"is"});
  model.node("Where", {"is", "ones", "s"}, {"t"}).node("Expand", {"x", "t"}, {"y"});
  CHECK(text_of(imported(model.output("y"))) == "broadcast(x) f32[N,4]");
}

TEST_CASE("a scale that depends on a fixed size becomes a constant") {
  ModelBytes model;
  model.input("x", {"N", 16}).initializer(tensor("i", kInt64, {}, raw<std::int64_t>({1})));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "i"}, {"d"}).node("Cast", {"d"}, {"f"}, {attribute("to", 1)});
  model.node("Sqrt", {"f"}, {"root"}).node("Div", {"x", "root"}, {"y"});
  const graph::Graph graph = imported(model.output("y"));
  CHECK(text_of(graph) == "div(x,root) f32[N,16]");
  const auto& bytes = graph.tensor(graph.nodes[0].inputs[1]).constant->bytes;
  CHECK(std::string(bytes.begin(), bytes.end()) == raw<float>({4}));
}

TEST_CASE("arithmetic on sizes stays symbolic") {
  ModelBytes model;
  model.input("x", {"N", 6}).initializer(integers("two", {2})).initializer(integers("three", {3}));
  model.initializer(integers("i0", {0}));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "i0"}, {"n"}).node("Mul", {"n", "two"}, {"m"});
  model.node("Concat", {"m", "three"}, {"t"}, {attribute("axis", 0)}).node("Reshape", {"x", "t"}, {"y"});
  CHECK(outputs_of(imported(model.output("y"))) == "f32[N*2,3]");
}

TEST_CASE("sizes that are needed as a tensor become one when the network runs") {
  ModelBytes model;
  model.input("x", {"N", 6}).node("Shape", {"x"}, {"s"}).output("s");
  model.node("Cast", {"s"}, {"y"}, {attribute("to", 1)}).output("y");
  model.initializer(integers("i0", {0})).initializer(tensor("five", kInt64, {}, raw<std::int64_t>({5})));
  model.node("Gather", {"s", "i0"}, {"n"}).node("Sub", {"n", "five"}, {"less"}).output("less");
  model.node("Cast", {"less"}, {"narrow"}, {attribute("to", 6)}).output("narrow");
  CHECK(text_of(imported(model)) ==
        "sizes() i64[2]\ncast(s) f32[2]\nsizes() i64[2]\nsizes() i64[1]\nsizes() i64[1]\ncast(narrow) i32[1]");
}

TEST_CASE("many sizes are written by several nodes") {
  ModelBytes model;
  model.input("x", {"N", 6}).initializer(integers("count", {50})).initializer(integers("i0", {0}));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "i0"}, {"n"}).node("Expand", {"n", "count"}, {"many"});
  CHECK(text_of(imported(model.output("many"))) == "sizes() i64[32]\nsizes() i64[18]\nconcat(many,many) i64[50]");
}

TEST_CASE("ranges and filled tensors of known size are constants") {
  ModelBytes model;
  const auto number = [](const char* name, std::int64_t value) {
    return tensor(name, kInt64, {}, raw<std::int64_t>({value}));
  };
  model.initializer(number("start", 2)).initializer(number("limit", 9)).initializer(number("delta", 3));
  model.node("Range", {"start", "limit", "delta"}, {"r"}).initializer(integers("shape", {2, 2})).output("r");
  model.node("ConstantOfShape", {"shape"}, {"c"}, {attribute("value", tensor("", kInt64, {1}, raw<std::int64_t>({7})))})
      .output("c");
  const graph::Graph graph = imported(model);
  CHECK(outputs_of(graph) == "i64[3] i64[2,2]");
  const auto contents = [&](std::size_t i) {
    const auto& bytes = graph.tensor(graph.outputs[i]).constant->bytes;
    return std::string(bytes.begin(), bytes.end());
  };
  CHECK(contents(0) == raw<std::int64_t>({2, 5, 8}));
  CHECK(contents(1) == raw<std::int64_t>({7, 7, 7, 7}));
}

TEST_CASE("constants are moved and combined when the network is imported") {
  ModelBytes model;
  model.initializer(tensor("a", kInt32, {2, 3}, raw<std::int32_t>({1, 2, 3, 4, 5, 6})));
  model.initializer(integers("starts", {1})).initializer(integers("ends", {-4})).initializer(integers("axes", {1}));
  model.initializer(integers("steps", {-1}));
  model.node("Transpose", {"a"}, {"t"}).output("t");
  model.node("Slice", {"a", "starts", "ends", "axes", "steps"}, {"s"}).output("s");
  model.node("ReduceProd", {"a"}, {"p"}, {attribute("axes", {1}), attribute("keepdims", 0)}).output("p");
  model.node("Greater", {"a", "m"}, {"g"})
      .initializer(tensor("m", kInt32, {3}, raw<std::int32_t>({0, 2, 9})))
      .output("g");
  const graph::Graph graph = imported(model);
  const auto contents = [&](std::size_t i) {
    const auto& bytes = graph.tensor(graph.outputs[i]).constant->bytes;
    return std::string(bytes.begin(), bytes.end());
  };
  CHECK(text_of(graph).empty());
  CHECK(contents(0) == raw<std::int32_t>({1, 4, 2, 5, 3, 6}));
  CHECK(contents(1) == raw<std::int32_t>({2, 1, 5, 4}));
  CHECK(contents(2) == raw<std::int32_t>({6, 120}));
  CHECK(contents(3) == std::string("\1\0\0\1\1\0", 6));
}

TEST_CASE("ends of slices may be the greatest integer, and be computed") {
  const auto sliced = [](const Sizes& end, const std::vector<std::pair<const char*, const char*>>& nodes) {
    ModelBytes model;
    model.input("x", {"N", 4}).initializer(integers("e", end)).initializer(integers("zero", {0}));
    model.initializer(integers("most", {INT64_MAX})).initializer(integers("axis", {0}));
    model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"});
    std::string last = "e";
    for (const auto& [op, other] : nodes) {
      const std::string next = last + "_";
      model.node(op, *other == 0 ? std::vector<std::string>{last} : std::vector<std::string>{last, other}, {next});
      last = next;
    }
    model.node("Slice", {"x", "zero", last, "axis"}, {"y"});
    return refusal_of(model.output("y"));
  };
  CHECK(sliced({INT64_MAX}, {{"Min", "most"}}) == "imported ");
  CHECK(sliced({INT64_MAX}, {{"Max", "zero"}}) == "imported ");
  CHECK(sliced({INT64_MAX}, {{"Min", "n"}}) == "imported ");
  CHECK(sliced({3}, {{"Min", "most"}}) == "imported slice(x) f32[min(3,N),4]");
  CHECK(sliced({INT64_MAX}, {{"Neg", ""}, {"Max", "zero"}}) == "imported slice(x) f32[0,4]");
  CHECK(sliced({-INT64_MAX}, {{"Neg", ""}}) == "imported ");
  CHECK(sliced({-INT64_MAX}, {{"Abs", ""}, {"Sub", "zero"}}) == "imported ");
}

TEST_CASE("integers become the nearest float when the network is imported") {
  ModelBytes model;
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 38) + 1;
  model.initializer(integers("i", {tie, -tie, 7})).node("Cast", {"i"}, {"y"}, {attribute("to", 1)}).output("y");
  const graph::Graph graph = imported(model);
  const auto& bytes = graph.tensor(graph.outputs[0]).constant->bytes;
  const auto up = static_cast<float>((std::int64_t{1} << 62) + (std::int64_t{1} << 39));
  CHECK(std::string(bytes.begin(), bytes.end()) == raw<float>({up, -up, 7}));
}

TEST_CASE("arithmetic that a narrow type would wrap is left to the network") {
  ModelBytes model;
  model.initializer(tensor("a", kInt32, {2}, raw<std::int32_t>({65536, 65536})));
  model.node("ReduceProd", {"a"}, {"y"}, {attribute("keepdims", 0)}).output("y");
  CHECK(text_of(imported(model)) == "reduce_prod(a) i32[]");
}

}  // namespace
}  // namespace ferry::test
