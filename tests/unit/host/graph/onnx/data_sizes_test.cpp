// Sizes that depend on data.
#include <doctest/doctest.h>

#include "tests/unit/host/graph/onnx/computed.h"

namespace ferry::test {
namespace {

// The rows of x[N,4] whose first element is not 0, as y.
ModelBytes with_rows() {
  ModelBytes model;
  model.input("x", {"N", 4}).initializer(integers("zero", {0})).initializer(integers("one", {1}));
  model.node("Slice", {"x", "zero", "one", "one"}, {"first"}).node("Squeeze", {"first", "one"}, {"c"});
  model.node("Cast", {"c"}, {"b"}, {attribute("to", 9)});
  return model.node("Compress", {"x", "b"}, {"y"}, {attribute("axis", 0)}, "rows");
}

TEST_CASE("an output whose size depends on data has room for all, and another output has its shape") {
  const graph::Graph graph = imported(with_rows().output("y"));
  CHECK(outputs_of(graph) == "f32[N,4] i64[2]");
  CHECK(graph.output_names == std::vector<std::string>{"y", "y.shape"});
  CHECK(graph.counted == std::vector<CountedOutput>{{0, 1}});
  CHECK(graph.symbols == std::vector<std::string>{"N"});
}

TEST_CASE("the number of elements that a constant selects is known") {
  ModelBytes model;
  model.input("x", {"N", 3}).initializer(tensor("c", 9, {3}, std::string("\1\0\1", 3)));
  model.node("Compress", {"x", "c"}, {"y"}, {attribute("axis", 1)});
  const graph::Graph graph = imported(model.output("y"));
  CHECK(outputs_of(graph) == "f32[N,2]");
  CHECK(graph.counted.empty());
}

TEST_CASE("a size that was computed from a count is computed in the call") {
  ModelBytes model = with_rows().node("Shape", {"y"}, {"s"}).node("Mul", {"s", "s"}, {"z"});
  const std::vector<float> x = {1, 2, 3, 4, 0, 6, 7, 8, 5, 6, 7, 8};
  CHECK(computed<std::int64_t>(model.output("z"), x, {{"N", 3}}) == std::vector<std::int64_t>{4, 16});
}

TEST_CASE("what needs sizes before the call is refused by name") {
  ModelBytes moved = with_rows().initializer(integers("shape", {4, -1}));
  moved.node("Transpose", {"y"}, {"t"})
      .initializer(integers("flat", {-1}))
      .node("Reshape", {"t", "flat"}, {"z"}, {}, "n");
  CHECK(refusal_of(moved.output("z")).find("node 'n' (Reshape") != std::string::npos);
  ModelBytes equal = with_rows().node("Add", {"x", "y"}, {"z"}, {}, "n");
  CHECK(refusal_of(equal.output("z")).find("node 'n' (Add") != std::string::npos);
}

}  // namespace
}  // namespace ferry::test
