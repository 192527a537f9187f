// Sizes that must be equal, but are not in all calls, become requirements.
#include <doctest/doctest.h>

#include <algorithm>

#include "host/graph/plan/network_function.h"
#include "tests/unit/host/graph/onnx/computed.h"

namespace ferry::test {
namespace {

std::string requirements_of(const ModelBytes& model) {
  std::string text;
  for (const graph::Requirement& one : imported(model).requirements) text += (text.empty() ? "" : "\n") + one.message;
  return text;
}

// x[N,T,2] plus the first T of 40 positions.
ModelBytes with_positions() {
  ModelBytes model;
  model.input("x", {"N", "T", 2}).initializer(floats("positions", {40, 2})).initializer(integers("one", {1}));
  model.initializer(integers("zero", {0})).node("Shape", {"x"}, {"s"}).node("Gather", {"s", "one"}, {"t"});
  model.node("Slice", {"positions", "zero", "t", "zero"}, {"first"});
  return model.node("Add", {"x", "first"}, {"y"}, {}, "add").output("y");
}

TEST_CASE("a network with positions up to a limit requires inputs up to it") {
  CHECK(requirements_of(with_positions()) == "add: T of 'x' must equal min(T,40) of 'first'");
  CHECK(outputs_of(imported(with_positions())) == "f32[N,T,2]");
  const std::vector<float> x = {1, 2, 3, 4, 5, 6};
  CHECK(computed<float>(with_positions(), x, {{"N", 1}, {"T", 3}}).size() == 6);
  CHECK_THROWS_AS(computed<float>(with_positions(), std::vector<float>(82), {{"N", 1}, {"T", 41}}), CompileError);
}

TEST_CASE("requirements are preconditions of the network's function") {
  const FunctionInfo function = graph::describe_network(imported(with_positions()));
  const auto holds = [&](std::int64_t length) {
    return std::ranges::all_of(function.preconditions, [&](const Precondition& one) {
      return evaluate(one.condition, std::vector<std::int64_t>{3, length}).value() != 0;
    });
  };
  CHECK(holds(40));
  CHECK(!holds(41));
}

TEST_CASE("sizes of several names are the first of them, and numbers before names") {
  ModelBytes model;
  model.input("a", {"N", "T"}).input("b", {"M", 7}).node("Mul", {"a", "b"}, {"y"}, {}, "mul").output("y");
  CHECK(requirements_of(model) == "mul: N of 'a' must equal M of 'b'\nmul: T of 'a' must equal 7 of 'b'");
  CHECK(outputs_of(imported(model)) == "f32[N,7]");
}

TEST_CASE("what follows from earlier requirements is required once") {
  ModelBytes model;
  model.input("a", {"N", 3}).input("b", {"M", 3}).node("Mul", {"a", "b"}, {"c"}, {}, "mul");
  model.node("Add", {"c", "b"}, {"y"}).output("y");
  CHECK(requirements_of(model) == "mul: N of 'a' must equal M of 'b'");
}

TEST_CASE("elements of a reshape, parts of a split and removed dimensions are required to fit") {
  ModelBytes halves;
  halves.input("x", {"N", 3})
      .initializer(integers("shape", {-1, 2}))
      .node("Reshape", {"x", "shape"}, {"y"}, {}, "pair");
  CHECK(requirements_of(halves.output("y")) ==
        "pair: the elements of [N*3/2,2], N*3/2*2, must equal those of [N,3], N*3,");
  ModelBytes parts;
  parts.input("x", {"N", 3})
      .initializer(integers("sizes", {2, 5}))
      .node("Split", {"x", "sizes"}, {"y", "z"}, {}, "split");
  CHECK(requirements_of(parts.output("y").output("z")) == "split: the sum of the parts, 7, must equal N of 'x'");
  ModelBytes removed;
  removed.input("x", {"N", "one", 3})
      .initializer(integers("axis", {1}))
      .node("Squeeze", {"x", "axis"}, {"y"}, {}, "less");
  CHECK(requirements_of(removed.output("y")) == "less: one of 'x' must equal the size of what is removed, 1,");
}

TEST_CASE("sizes that always differ are refused when the network is imported") {
  ModelBytes model;
  model.input("a", {"N", 3}).input("b", {"N", 4}).node("Mul", {"a", "b"}, {"y"}, {}, "mul").output("y");
  CHECK(refusal_of(model) == "node 'mul' (Mul, opset 17): expected shapes that broadcast, got [N,3] and [N,4]");
}

TEST_CASE("sizes that floats compute decide shapes") {
  // The next multiple of 32, of a height.
  ModelBytes model;
  model.input("x", {"H"}).node("Shape", {"x"}, {"s"}).node("Cast", {"s"}, {"f"}, {attribute("to", 1)});
  model.initializer(tensor("unit", kFloat, {}, raw<float>({32}))).node("Div", {"f", "unit"}, {"q"});
  model.node("Ceil", {"q"}, {"c"}).node("Mul", {"c", "unit"}, {"m"}).node("Cast", {"m"}, {"i"}, {attribute("to", 7)});
  model.initializer(tensor("value", kFloat, {}, raw<float>({1})));
  model.node("Expand", {"value", "i"}, {"y"}).output("y");
  CHECK(outputs_of(imported(model)) == "f32[(H+31)/32*32]");
}

TEST_CASE("a size to which others are joined may be 0 even where parts are sliced") {
  ModelBytes model;
  model.input("past", {"P", 2}).input("x", {"T", 2}).node("Concat", {"past", "x"}, {"all"}, {attribute("axis", 0)});
  model.initializer(integers("zero", {0}))
      .initializer(integers("last", {-1}))
      .initializer(integers("end", {INT64_MAX}));
  model.node("Slice", {"all", "last", "end", "zero"}, {"y"}).node("Slice", {"past", "last", "end", "zero"}, {"z"});
  const graph::Graph graph = imported(model.output("y").output("z"));
  CHECK(graph.from_zero == std::vector<std::string>{"P", "T"});
  CHECK(graph::describe_network(graph).preconditions.empty());
  CHECK(outputs_of(graph) == "f32[P+T-max(0,P+T+(-1)),2] f32[P-max(0,P+(-1)),2]");
}

}  // namespace
}  // namespace ferry::test
