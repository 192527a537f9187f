// Loops whose condition or trip count the call computes.
#include <doctest/doctest.h>

#include <limits>

#include "tests/unit/host/graph/onnx/loop_models.h"

namespace ferry::test {
namespace {

// Adds x until the sum of the elements is no longer below 100; what it stacks are the sums.
ModelBytes until_body() {
  ModelBytes graph;
  graph.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {2}).initializer(floats("hundred", {}));
  graph.node("Add", {"sum", "x"}, {"next"}).node("ReduceSum", {"next"}, {"total"}, {attribute("keepdims", 0)});
  graph.node("Less", {"total", "hundred"}, {"on"}).node("Identity", {"next"}, {"seen"});
  return graph.output("on").output("next").output("seen");
}

// A loop with this body, whose trip count is an initializer, the input "given" or absent.
ModelBytes loop_until(const std::string& count, std::int64_t number, const std::vector<std::string>& outputs) {
  ModelBytes model;
  model.input("x", {2}).input("given", {1}, kInt64).initializer(truth("go0", true));
  model.initializer(tensor("known", kInt64, {}, raw<std::int64_t>({number})));
  model.node("Loop", {count, "go0", "x"}, outputs, {body("body", until_body())}, "loop");
  for (const std::string& output : outputs)
    if (!output.empty()) model.output(output);
  return model;
}

TEST_CASE("what a loop stacks that a condition ends is as long as iterations ran, with room for its trip count") {
  for (const std::int64_t count : {2, 5, 100}) {
    const graph::Graph network = imported(loop_until("known", count, {"y", "all"}));
    CHECK(has_conditional_loop(network));
    CHECK(outputs_of(network) == "f32[2] f32[" + std::to_string(count) + ",2] i64[2]");
    REQUIRE(network.counted.size() == 1);
    CHECK(network.counted[0].output == 1);
    CHECK(network.counted[0].shape == 2);
  }
  CHECK(outputs_of(imported(loop_over_size(until_body(), {"y", "all"}))) == "f32[2] f32[N,2] i64[2]");
}

TEST_CASE("a loop without a bound gives its state alone") {
  for (const char* count : {"", "given"}) {
    const graph::Graph network = imported(loop_until(count, 1, {"y"}));
    CHECK(has_conditional_loop(network));
    CHECK(outputs_of(network) == "f32[2]");
  }
  CHECK(outputs_of(imported(loop_until("known", std::numeric_limits<std::int64_t>::max(), {"y"}))) == "f32[2]");
  const std::string refusal =
      "node 'loop' (Loop, opset 17): expected a trip count, of at most 16777216, that is known when the network is "
      "imported: it bounds what a loop that a condition ends gives of all of its iterations, got ";
  CHECK(refusal_of(loop_until("", 1, {"y", "all"})) == refusal + "none");
  CHECK(refusal_of(loop_until("given", 1, {"y", "all"})) == refusal + "the computed tensor 'given'");
  CHECK(refusal_of(loop_until("known", std::int64_t{1} << 40, {"y", "all"})) == refusal + "1099511627776");
  ModelBytes endless;
  endless.input("x", {2}).node("Loop", {"", "", "x"}, {"y"}, {body("body", until_body())}, "loop").output("y");
  CHECK(refusal_of(endless) == "node 'loop' (Loop, opset 17): expected a trip count or a condition, got neither");
}

// The inner loop's sums in each iteration of another one.
ModelBytes with_inner_loop() {
  ModelBytes graph;
  graph.input("j", {}, kInt64).input("goes", {}, kBool).input("state", {2}).initializer(truth("yes", true));
  graph.initializer(tensor("five", kInt64, {}, raw<std::int64_t>({5})));
  graph.node("Loop", {"five", "yes", "state"}, {"last", "stacked"}, {body("body", until_body())}, "inner");
  graph.node("ReduceSum", {"stacked"}, {"total"}, {attribute("keepdims", 0)}).node("Add", {"last", "total"}, {"after"});
  return graph;
}

TEST_CASE("what a loop stacks inside of another that is repeated has a size of the iteration") {
  const graph::Graph network =
      imported(loop_over_size(with_inner_loop().output("goes").output("after").output("total"), {"y", "totals"}));
  CHECK(outputs_of(network) == "f32[2] f32[N]");
  CHECK(network.counted.empty());
  CHECK(refusal_of(loop_over_size(with_inner_loop().output("goes").output("after").output("stacked"), {"y", "all"})) ==
        "node 'loop' (Loop, opset 17): expected entries of a size that is the same in all iterations, got "
        "[last.count,2], whose size depends on data");
}

}  // namespace
}  // namespace ferry::test
