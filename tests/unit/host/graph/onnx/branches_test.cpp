// Branches whose condition the call computes.
#include <doctest/doctest.h>

#include "tests/unit/host/graph/onnx/computed.h"
#include "tests/unit/host/graph/onnx/loop_models.h"

namespace ferry::test {
namespace {

using Reals = std::vector<float>;

// A branch that gives the results of these nodes, each of x alone.
ModelBytes branch(const std::vector<std::string>& ops, const std::string& name) {
  ModelBytes graph;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string result = name + std::to_string(i);
    graph.node(ops[i], {"x"}, {result}).output(result);
  }
  return graph;
}

// If the sum of x[dims] is above 0, the first branch, and else the second one.
ModelBytes choice(const std::vector<Dim>& dims, const ModelBytes& yes, const ModelBytes& no,
                  const std::vector<std::string>& outputs = {"y"}) {
  ModelBytes model;
  model.input("x", dims).initializer(floats("none", {}));
  model.node("ReduceSum", {"x"}, {"sum"}, {attribute("keepdims", 0)}).node("Less", {"none", "sum"}, {"is_above"});
  model.node("If", {"is_above"}, outputs, {body("then_branch", yes), body("else_branch", no)}, "choice");
  for (const std::string& output : outputs)
    if (!output.empty()) model.output(output);
  return model;
}

TEST_CASE("a branch that the call chooses runs at most once, and only where its condition holds") {
  const ModelBytes model = choice({3}, branch({"Exp"}, "a"), branch({"Neg"}, "b"));
  CHECK(text_of(imported(model)) ==
        "reduce_sum(x) f32[]\nless(none,sum) bool[]\nloop(is_above,choice) bool[]\n"
        "exp(x) f32[3]\nend_loop(choice,a0) bool[]\nlogical_not(is_above) bool[]\nloop(choice,choice) bool[]\n"
        "neg(x) f32[3]\nend_loop(choice,b0) bool[]");
  CHECK(computed<float>(model, Reals{0, 0, 1})[2] == doctest::Approx(2.718282));
  CHECK(computed<float>(model, Reals{-3, 1, 1}) == Reals{3, -1, -1});
}

TEST_CASE("branches without nodes are a choice of two tensors, and the same in both is no choice") {
  ModelBytes yes, no;
  yes.node("Identity", {"x"}, {"a0"}).node("Identity", {"x"}, {"a1"}).output("a0").output("a1");
  no.node("Identity", {"sum"}, {"s"}).initializer(floats("b0", {3}));
  no.node("Identity", {"x"}, {"b1"}).output("b0").output("b1");
  const graph::Graph network = imported(choice({3}, yes, no, {"y", "z"}));
  CHECK(text_of(network) == "reduce_sum(x) f32[]\nless(none,sum) bool[]\nwhere(is_above,x,b0) f32[3]");
  CHECK(network.outputs[1] == network.inputs[0]);
}

TEST_CASE("an output of a branch that nothing names is not computed") {
  const std::string text =
      text_of(imported(choice({3}, branch({"Exp", "Abs"}, "a"), branch({"Neg", "Tanh"}, "b"), {"", "y"})));
  CHECK(text.find("exp") == std::string::npos);
  CHECK(text.find("tanh") != std::string::npos);
}

TEST_CASE("results of other sizes have room for the larger one, and a shape that the call computes") {
  ModelBytes yes, no;
  yes.node("Concat", {"x", "x"}, {"a"}, {attribute("axis", 0)}).output("a");
  no.initializer(floats("b", {0, 2})).output("b");
  const graph::Graph network = imported(choice({"N", 2}, yes, no));
  CHECK(outputs_of(network) == "f32[N+N,2] i64[2]");
  REQUIRE(network.counted.size() == 1);
}

TEST_CASE("results of other types or ranks are refused where the call chooses, and so is what is refused inside") {
  const auto refusal = [](const ModelBytes& no) { return refusal_of(choice({3}, branch({"Exp"}, "a"), no)); };
  const std::string expected =
      "node 'choice' (If, opset 17): expected branches whose results have the same type and rank, as the condition "
      "depends on data, got f32[3] and ";
  CHECK(refusal(branch({"Shape"}, "b")) == expected + "i64[1]");
  ModelBytes rank, type;
  CHECK(refusal(rank.node("ReduceSum", {"x"}, {"b"}, {attribute("keepdims", 0)}).output("b")) == expected + "f32[]");
  CHECK(refusal(type.node("Cast", {"x"}, {"b"}, {attribute("to", 7)}).output("b")) == expected + "i64[3]");
  ModelBytes inside;
  inside.node("RoiAlign", {"x"}, {"b"}, {}, "inner").output("b");
  CHECK(refusal(inside).starts_with("node 'inner' (RoiAlign, opset 17): ferry does not import this operator"));
}

TEST_CASE("a condition is one bool") {
  ModelBytes model;
  model.input("x", {2}).input("b", {2}, kBool);
  model.node("If", {"b"}, {"y"}, {body("then_branch", branch({"Exp"}, "a")), body("else_branch", branch({"Neg"}, "b"))},
             "choice");
  CHECK(refusal_of(model.output("y")) ==
        "node 'choice' (If, opset 17): expected the condition as one bool, got bool[2]");
}

TEST_CASE("branches inside of each other are as deep as loops may be") {
  ModelBytes inner = branch({"Exp"}, "leaf");
  for (int depth = 1; depth <= 4; ++depth) {
    const std::string name = "d" + std::to_string(depth);
    ModelBytes around;
    around.node("If", {"is_above"}, {name},
                {body("then_branch", inner), body("else_branch", branch({"Neg"}, "b" + name))}, name);
    if (depth == 4) {
      CHECK(refusal_of(choice({3}, around.output(name), branch({"Abs"}, "c"))) ==
            "node 'd1' (If, opset 17): expected at most 4 loops of more than 8 iterations, and branches that the call "
            "chooses, inside of each other, got more");
    } else {
      CHECK(computed<float>(choice({3}, around.output(name), branch({"Abs"}, "c")), Reals{-1, -2, 1}) ==
            Reals{1, 2, 1});
    }
    inner = around;
  }
}

}  // namespace
}  // namespace ferry::test
