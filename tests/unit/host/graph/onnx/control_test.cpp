// Functions that a model defines, and loops and branches: their nodes become nodes of the network, or of its loops.
#include <doctest/doctest.h>

#include "tests/unit/host/graph/onnx/loop_models.h"

namespace ferry::test {
namespace {

// A function of the domain "local".
Proto function(const std::string& name, const std::vector<std::string>& inputs, const std::vector<Proto>& nodes) {
  Proto proto = Proto().bytes(1, name);
  for (const std::string& input : inputs) proto.bytes(4, input);
  proto.bytes(5, "result");
  for (const Proto& node : nodes) proto.message(7, node);
  const Proto own = Proto().bytes(1, "").number(2, 17), local = Proto().bytes(1, "local").number(2, 1);
  return proto.message(9, own).message(9, local).bytes(10, "local");
}

ModelBytes model_with(const std::vector<Proto>& functions) {
  ModelBytes model;
  model.model_part(8, Proto().bytes(1, "local").number(2, 1));
  for (const Proto& one : functions) model.model_part(25, one);
  return model.input("x", {2, 3});
}

Proto reference(const std::string& name, const std::string& to, int type) {
  return Proto().bytes(1, name).bytes(21, to).number(20, type);
}

TEST_CASE("the nodes of a function stand where it is called, with the attributes of the call") {
  const Proto leak = function("Leak", {"a", "b"},
                              {node_proto("LeakyRelu", {"a"}, {"c"}, {reference("alpha", "slope", 1)}),
                               node_proto("Add", {"c", "b"}, {"result"})});
  ModelBytes model = model_with({leak});
  model.node("Leak", {"x", "x"}, {"y"}, {attribute("slope", 0.5F)}, "call", "local").output("y");
  CHECK(text_of(imported(model)) == "mul(x,c) f32[2,3]\nless(x,c) bool[2,3]\nwhere(c,c,x) f32[2,3]\nadd(c,x) f32[2,3]");
  CHECK(graph::onnx::import_model(parsed(model.text())).operators.at(2).is_imported);
}

TEST_CASE("an input that a call leaves out is not given inside of the function either") {
  const Proto clip = function("Limit", {"a", "low", "high"}, {node_proto("Clip", {"a", "low", "high"}, {"result"})});
  ModelBytes model = model_with({clip});
  model.initializer(scalar("six", 6)).node("Limit", {"x", "", "six"}, {"y"}, {}, "call", "local").output("y");
  CHECK(text_of(imported(model)) == "minimum(x,six) f32[2,3]");
}

TEST_CASE("functions that call themselves are refused") {
  const Proto endless = function("Endless", {"a"}, {node_proto("Endless", {"a"}, {"result"}, {}, "again", "local")});
  ModelBytes model = model_with({endless});
  model.node("Endless", {"x"}, {"y"}, {}, "call", "local").output("y");
  CHECK(refusal_of(model) == "expected functions, loops and branches nested at most 32 deep, got more");
}

TEST_CASE("functions that call others twice and again twice are refused before they fill the memory") {
  std::vector<Proto> functions;
  for (int i = 0; i < 30; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    functions.push_back(function(
        "F" + std::to_string(i), {"a"},
        {node_proto(next, {"a"}, {"b"}, {}, "one", "local"), node_proto(next, {"b"}, {"result"}, {}, "two", "local")}));
  }
  functions.push_back(function("F30", {"a"}, {node_proto("Relu", {"a"}, {"result"})}));
  ModelBytes model = model_with(functions);
  model.node("F0", {"x"}, {"y"}, {}, "call", "local").output("y");
  CHECK(refusal_of(model) ==
        "expected at most 32768 nodes in all iterations of loops and calls of functions, got more");
}

TEST_CASE("a node that is refused inside of a function is named") {
  ModelBytes model = model_with({function("Bad", {"a"}, {node_proto("RoiAlign", {"a"}, {"result"}, {}, "inner")})});
  model.node("Bad", {"x"}, {"y"}, {}, "call", "local").node("Relu", {"y"}, {"z"}).output("z");
  CHECK(refusal_of(model) ==
        "node 'inner' (RoiAlign, opset 17): ferry does not import this operator; let the "
        "network end before it, and do this step in the program that calls it");
}

ModelBytes branch(const std::string& op) {
  ModelBytes graph;
  return graph.node(op, {"x"}, {op + "_result"}).output(op + "_result");
}

TEST_CASE("of a branch that is known only the nodes that run are imported, and they see the tensors around it") {
  ModelBytes model;
  model.input("x", {2}).initializer(truth("yes", true));
  model.node("If", {"yes"}, {"y"}, {body("then_branch", branch("Relu")), body("else_branch", branch("Neg"))}, "choice")
      .output("y");
  CHECK(text_of(imported(model)) == "relu(x) f32[2]");
}

// y = y + x in each iteration, with all sums as a second output.
ModelBytes loop_body() {
  ModelBytes graph;
  graph.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {2});
  graph.node("Add", {"sum", "x"}, {"next"}).node("Identity", {"next"}, {"seen"}).node("Identity", {"go"}, {"go_on"});
  return graph.output("go_on").output("next").output("seen");
}

ModelBytes loop_model(std::int64_t count) {
  ModelBytes model;
  model.input("x", {2})
      .initializer(tensor("count", kInt64, {}, raw<std::int64_t>({count})))
      .initializer(truth("go0", true));
  model.node("Loop", {"count", "go0", "x"}, {"y", "all"}, {body("body", loop_body())}, "loop");
  return model.output("y").output("all");
}

TEST_CASE("a loop of few iterations is unrolled, and what it scans is joined") {
  CHECK(text_of(imported(loop_model(2))) ==
        "add(x,x) f32[2]\nadd(next,x) f32[2]\nreshape(next) f32[1,2]\nreshape(next) f32[1,2]\nconcat(loop,loop) "
        "f32[2,2]");
}

TEST_CASE("a loop of many iterations is repeated") {
  const std::string all = "loop(x) f32[2]\nadd(loop,x) f32[2]\nend_loop(next,next) f32[2]";
  const graph::Graph network = imported(loop_model(9));
  CHECK(text_of(network) == all);
  CHECK(outputs_of(network) == "f32[2] f32[9,2]");
  CHECK(text_of(imported(loop_model(std::int64_t{1} << 40))) == all);
  CHECK(text_of(imported(loop_model(2), {.most_unrolled = 1})) == all);
}

TEST_CASE("a trip count may be a size") {
  CHECK(outputs_of(imported(loop_over_size(loop_body(), {"y", "all"}))) == "f32[2] f32[N,2]");
}

TEST_CASE("the number of the iteration is an entry of 0, 1, ...") {
  ModelBytes graph, model;
  graph.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {2});
  graph.node("Cast", {"i"}, {"number"}, {attribute("to", 1)}).node("Add", {"sum", "number"}, {"next"});
  CHECK(text_of(imported(loop_over_size(graph.output("go").output("next"), {"y"}))) ==
        "iota() i64[N]\nloop(x,loop) f32[2]\ncast(loop) f32[]\nadd(loop,number) f32[2]\nend_loop(next) f32[2]");
}

TEST_CASE("a trip count that may be below 0 counts as 0") {
  ModelBytes model;
  model.input("x", {2}).input("length", {"N", 3}).initializer(truth("go0", true));
  model.initializer(tensor("zero", kInt64, {}, raw<std::int64_t>({0})));
  model.initializer(tensor("five", kInt64, {}, raw<std::int64_t>({5})));
  model.node("Shape", {"length"}, {"shape"})
      .node("Gather", {"shape", "zero"}, {"n"})
      .node("Sub", {"n", "five"}, {"count"});
  model.node("Loop", {"count", "go0", "x"}, {"y", "all"}, {body("body", loop_body())}, "loop").output("all");
  CHECK(outputs_of(imported(model)) == "f32[max(N-5,0),2]");
}

TEST_CASE("a loop of more than 256 states is unrolled, and refused if its trip count is a size") {
  const auto with_states = [](const std::string& count) {
    ModelBytes graph, model;
    graph.input("i", {}, kInt64).input("go", {}, kBool).output("go");
    std::vector<std::string> inputs = {count, "go0"}, outputs;
    for (int s = 0; s < 257; ++s) {
      const std::string name = "s" + std::to_string(s);
      graph.input(name, {2}).node("Neg", {name}, {"n" + name}).output("n" + name);
      inputs.push_back("x");
      outputs.push_back("y" + std::to_string(s));
    }
    model.input("x", {2}).input("length", {"N", 3}).initializer(truth("go0", true));
    model.initializer(tensor("zero", kInt64, {}, raw<std::int64_t>({0})));
    model.initializer(tensor("nine", kInt64, {}, raw<std::int64_t>({9})));
    model.node("Shape", {"length"}, {"shape"}).node("Gather", {"shape", "zero"}, {"open"});
    model.node("Loop", inputs, outputs, {body("body", graph)}, "loop").output("y0");
    return model;
  };
  CHECK(imported(with_states("nine")).nodes.size() == 9);
  CHECK(
      refusal_of(with_states("open")) ==
      "node 'loop' (Loop, opset 17): expected at most 256 states and tensors of a loop of more than 8 iterations, got "
      "258");
}

// The state is one longer after each iteration.
ModelBytes growing_body() {
  ModelBytes graph;
  graph.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {2});
  graph.node("Concat", {"sum", "x"}, {"next"}, {attribute("axis", 0)});
  return graph.output("go").output("next");
}

TEST_CASE("a loop whose state grows is unrolled, and refused if its trip count is a size") {
  ModelBytes model;
  model.input("x", {2}).initializer(truth("go0", true));
  model.initializer(tensor("count", kInt64, {}, raw<std::int64_t>({20})));
  model.node("Loop", {"count", "go0", "x"}, {"y"}, {body("body", growing_body())}, "loop").output("y");
  CHECK(outputs_of(imported(model)) == "f32[42]");
  CHECK(refusal_of(loop_over_size(growing_body(), {"y"})) ==
        "node 'loop' (Loop, opset 17): expected a state of the same type in all iterations, f32[2], got f32[4]");
}

TEST_CASE("a loop that would become more nodes than memory has room for is refused") {
  ModelBytes model;
  model.input("x", {2}).initializer(truth("go0", true));
  model.initializer(tensor("count", kInt64, {}, raw<std::int64_t>({std::int64_t{1} << 60})));
  model.node("Loop", {"count", "go0", "x"}, {"y"}, {body("body", growing_body())}, "loop").output("y");
  CHECK(refusal_of(model) ==
        "expected at most 32768 nodes in all iterations of loops and calls of functions, got more");
}

TEST_CASE("a condition that ends a loop of many iterations unrolls it, and a computed one is read in the call") {
  ModelBytes graph;
  graph.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {2});
  graph.initializer(tensor("ten", kInt64, {}, raw<std::int64_t>({10})));
  graph.node("Less", {"i", "ten"}, {"on"}).node("Add", {"sum", "x"}, {"next"}).output("on").output("next");
  ModelBytes model;
  model.input("x", {2}).initializer(truth("go0", true));
  model.initializer(tensor("count", kInt64, {}, raw<std::int64_t>({100})));
  model.node("Loop", {"count", "go0", "x"}, {"y"}, {body("body", graph)}, "loop").output("y");
  CHECK(imported(model).nodes.size() == 11);
  const graph::Graph open = imported(loop_over_size(graph, {"y"}));
  CHECK(has_conditional_loop(open));
  CHECK(outputs_of(open) == "f32[2]");
}

TEST_CASE("loops are repeated inside of each other, as far as a plan has room") {
  const auto nested = [](std::size_t depth, const std::string& count) {
    ModelBytes graph;
    for (std::size_t d = 0; d < depth; ++d) {
      const std::string sum = "sum" + std::to_string(d);
      ModelBytes outer;
      outer.input("i" + sum, {}, kInt64).input("go" + sum, {}, kBool).input(sum, {2});
      if (d == 0)
        outer.node("Add", {sum, "x"}, {"next" + sum});
      else
        outer.node("Loop", {count, "go0", sum}, {"next" + sum}, {body("body", graph)}, "loop" + std::to_string(d));
      graph = outer.output("go" + sum).output("next" + sum);
    }
    ModelBytes model;
    model.input("x", {2}).input("length", {"N", 3}).initializer(truth("go0", true));
    model.initializer(tensor("zero", kInt64, {}, raw<std::int64_t>({0})));
    model.initializer(tensor("many", kInt64, {}, raw<std::int64_t>({9})));
    model.node("Shape", {"length"}, {"shape"}).node("Gather", {"shape", "zero"}, {"open"});
    model.node("Loop", {count, "go0", "x"}, {"y"}, {body("body", graph)}, "loop").output("y");
    return refusal_of(model);
  };
  const auto loops = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find("\nend_loop"); at != std::string::npos; at = text.find("\nend_loop", at + 1))
      ++count;
    return count;
  };
  CHECK(loops(nested(4, "open")) == 4);
  CHECK(loops(nested(4, "many")) == 4);
  // The innermost loop is unrolled in the other four.
  CHECK(loops(nested(5, "many")) == 4);
  CHECK(nested(5, "open") ==
        "node 'loop1' (Loop, opset 17): expected at most 4 loops of more than 8 iterations, and branches that the call "
        "chooses, inside of each other, got "
        "more");
}

TEST_CASE("a scan visits the entries of a known dimension, backwards if it says so") {
  ModelBytes graph, model;
  graph.input("state", {2}).input("entry", {2}).node("Mul", {"state", "entry"}, {"product"});
  graph.node("Identity", {"product"}, {"seen"}).output("product").output("seen");
  model.input("x", {3, 2}).initializer(floats("start", {2}));
  model.node("Scan", {"start", "x"}, {"y", "all"},
             {body("body", graph), attribute("num_scan_inputs", 1), attribute("scan_input_directions", Sizes{1})},
             "scan");
  model.output("all");
  const graph::Graph network = imported(model);
  CHECK(to_text(std::get<graph::SliceAttributes>(network.nodes[0].attributes).begin) == "[2,0]");
  CHECK(outputs_of(network) == "f32[3,2]");
  ModelBytes open;
  open.input("x", {"N", 2}).initializer(floats("start", {2}));
  open.node("Scan", {"start", "x"}, {"y", "all"}, {body("body", graph), attribute("num_scan_inputs", 1)}, "scan");
  CHECK(text_of(imported(open.output("all"))) ==
        "loop(start,x) f32[2]\nmul(scan,scan) f32[2]\nend_loop(product,product) f32[2]");
  ModelBytes different;
  ModelBytes two;
  two.input("entry", {2}).input("other", {2}).node("Mul", {"entry", "other"}, {"product"}).output("product");
  different.input("x", {"N", 2}).input("z", {"M", 2});
  different.node("Scan", {"x", "z"}, {"all"}, {body("body", two), attribute("num_scan_inputs", 2)}, "scan");
  CHECK(refusal_of(different.output("all")) ==
        "node 'scan' (Scan, opset 17): expected scanned dimensions of one size, got [M,2]");
}

TEST_CASE("a body that reads a tensor which nothing provides is refused") {
  ModelBytes inner;
  inner.node("Relu", {"nowhere"}, {"z"}).output("z");
  ModelBytes model;
  model.input("x", {2}).initializer(truth("yes", true));
  model.node("If", {"yes"}, {"y"}, {body("then_branch", inner), body("else_branch", inner)}, "choice").output("y");
  CHECK(refusal_of(model) ==
        "node 'choice' (If): expected 'nowhere' to be an input, an initializer or computed by a node, got none of that "
        "name");
}

// A loop whose body has these outputs after the condition and the state, and these nodes.
ModelBytes plain_loop(std::int64_t count, ModelBytes body_graph, std::size_t scanned, bool has_condition = true) {
  ModelBytes model;
  model.input("x", {2}).initializer(truth("go0", true));
  model.initializer(tensor("count", kInt64, {}, raw<std::int64_t>({count})));
  std::vector<std::string> outputs = {"y"};
  for (std::size_t i = 0; i < scanned; ++i) outputs.push_back("all" + std::to_string(i));
  model.node("Loop", {"count", has_condition ? "go0" : "", "x"}, outputs, {body("body", body_graph)}, "loop");
  for (const std::string& output : outputs) model.output(output);
  return model;
}

ModelBytes loop_inputs() {
  ModelBytes graph;
  return graph.input("i", {}, kInt64).input("go", {}, kBool).input("sum", {2});
}

TEST_CASE("bodies without nodes are refused where their outputs or initializers would fill the memory") {
  const std::string too_many =
      "expected at most 1048576 tensors and attributes in all iterations of loops and calls of functions, got more";
  // A state that becomes another type is not repeated.
  ModelBytes outputs = loop_inputs().output("go").output("go");
  for (int i = 0; i < 100; ++i) outputs.output("x");
  CHECK(refusal_of(plain_loop(16'000, outputs, 1)) == too_many);
  ModelBytes initializers = loop_inputs().output("go").output("go");
  for (int i = 0; i < 100; ++i) initializers.initializer(floats("w" + std::to_string(i), {1}));
  CHECK(refusal_of(plain_loop(16'000, initializers, 0)) == too_many);
  CHECK(refusal_of(plain_loop(1000, initializers, 0)) == "imported ");
}

TEST_CASE("a node that is refused in each iteration of a loop is named once") {
  ModelBytes graph = loop_inputs();
  graph.node("Flatten", {"x"}, {"unused"}, {attribute("axis", "one")}, "flat");
  graph.node("RoiAlign", {"x"}, {"unused2"}, {}, "boxes").node("Add", {"sum", "x"}, {"next"});
  CHECK(refusal_of(plain_loop(3, graph.output("go").output("next"), 0)) ==
        "node 'flat' (Flatten, opset 17): expected the attribute 'axis' with an integer, got a text\n"
        "node 'boxes' (RoiAlign, opset 17): ferry does not import this operator; let the "
        "network end before it, and do this step in the program that calls it");
}

TEST_CASE("a loop that is given no condition ignores that of its body") {
  ModelBytes graph = loop_inputs();
  graph.node("Add", {"sum", "x"}, {"next"}).initializer(truth("never", false)).output("never").output("next");
  CHECK(text_of(imported(plain_loop(2, graph, 0, false))) == "add(x,x) f32[2]\nadd(next,x) f32[2]");
  CHECK(text_of(imported(plain_loop(2, graph, 0))) == "add(x,x) f32[2]");
  ModelBytes computed = loop_inputs();
  computed.node("Add", {"sum", "x"}, {"next"}).node("ReduceSum", {"next"}, {"total"}, {attribute("keepdims", 0)});
  computed.node("Less", {"total", "total"}, {"go_on"}).output("go_on").output("next");
  CHECK(outputs_of(imported(plain_loop(2, computed, 0, false))) == "f32[2]");
  CHECK(has_conditional_loop(imported(plain_loop(2, computed, 0))));
}

TEST_CASE("a loop of no iterations gives its state, and what it scans has no entries") {
  ModelBytes graph = loop_inputs();
  graph.node("Add", {"sum", "x"}, {"next"}).output("go").output("next");
  CHECK(outputs_of(imported(plain_loop(0, graph, 0))) == "f32[2]");
  CHECK(outputs_of(imported(plain_loop(0, graph.output("next"), 1))) == "f32[2] f32[0,2]");
  CHECK(outputs_of(imported(plain_loop(-3, graph, 1))) == "f32[2] f32[0,2]");
  ModelBytes stopped;
  stopped.input("x", {2}).initializer(truth("stop", false));
  stopped.node("Loop", {"", "stop", "x"}, {"y", "all"}, {body("body", graph)}, "loop").output("y").output("all");
  CHECK(outputs_of(imported(stopped)) == "f32[2] f32[0,2]");
}

TEST_CASE("graphs that a call gives to a function are refused, because they would see the function's tensors") {
  ModelBytes negation;
  negation.node("Neg", {"a"}, {"r"}).output("r");
  const Proto choose =
      function("Choose", {"a"},
               {node_proto("Constant", {}, {"on"}, {attribute("value", truth("", true))}),
                node_proto("If", {"on"}, {"result"},
                           {reference("then_branch", "branch", 5), body("else_branch", negation)}, "inner")});
  ModelBytes model = model_with({choose});
  model.node("Relu", {"x"}, {"a"});
  model.node("Choose", {"x"}, {"y"}, {body("branch", negation)}, "call", "local").output("y");
  CHECK(refusal_of(model) ==
        "node 'inner' (If, opset 17): expected the attribute 'then_branch' with a graph, got a reference");
}

}  // namespace
}  // namespace ferry::test
