// Networks on the command line.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "host/client/npy/npy.h"
#include "tests/e2e/cli/run_ferry.h"
#include "tests/support/model_bytes.h"
#include "tests/support/seeded.h"

using namespace ferry;
using test::contains;
using test::Folder;
using test::Outcome;
using test::run_ferry;

namespace {

// Gives x the shape that another input says.
std::string write_network(const Folder& folder) {
  test::ModelBytes model;
  model.input("x", {6}).input("shape", {2}, test::kInt64);
  model.node("Reshape", {"x", "shape"}, {"z"}, {}, "view").node("Add", {"z", "z"}, {"y"}).output("y");
  return folder.file("net.onnx", model.text());
}

std::string write_shape(const Folder& folder, const std::vector<std::int64_t>& shape) {
  std::vector<std::uint8_t> bytes(shape.size() * sizeof(std::int64_t));
  std::memcpy(bytes.data(), shape.data(), bytes.size());
  const std::vector<std::int64_t> count = {static_cast<std::int64_t>(shape.size())};
  npy::write(folder.path("shape.npy"), DType::i64, count, bytes);
  return "shape=@" + folder.path("shape.npy");
}

// A convolution of 3x3 between dequantized integers, large enough for Winograd's algorithm.
std::string write_quantized_network(const Folder& folder) {
  constexpr std::int64_t kInt8 = 3;
  test::ModelBytes model;
  model.opset = 13;
  const std::string weights = test::raw(test::seeded_bytes<std::int8_t>(64 * 64 * 9, 3));
  model.input("x", {1, 64, 28, 28}, test::kUint8).initializer(test::scalar("scale", 0.05F));
  model.initializer(test::tensor("w", kInt8, {64, 64, 3, 3}, weights));
  model.node("DequantizeLinear", {"x", "scale"}, {"real_x"}).node("DequantizeLinear", {"w", "scale"}, {"real_w"});
  model.node("Conv", {"real_x", "real_w"}, {"y"}, {test::attribute("pads", test::Sizes{1, 1, 1, 1})}).output("y");
  return folder.file("quantized.onnx", model.text());
}

}  // namespace

TEST_CASE("an input of a network that decides shapes is bound to its contents, and is no argument then") {
  const Folder folder;
  const std::string network = write_network(folder), binding = write_shape(folder, {2, 3});
  const Outcome unbound = run_ferry({"run", network, "--arg", "x=:iota"});
  CHECK(unbound.code == 2);
  CHECK(
      unbound.err.find("node 'view' (Reshape, opset 17): expected the shape to be known when the network is imported, "
                       "got the computed tensor 'shape'; bind the input that decides it") != std::string::npos);
  const Outcome ran = run_ferry({"run", network, "--bind", binding, "--arg", "x=:iota", "--check"});
  CAPTURE(ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out.starts_with("y = f32[2,3]\n[[ 0.  2.  4.]\n [ 6.  8. 10.]]\n"));
  const Outcome compiled = run_ferry({"compile", network, "--bind", binding, "-o", folder.path("net.ferry")});
  CAPTURE(compiled.err);
  CHECK(compiled.out.find("net(in f32[6] x, out f32[2,3] y)") != std::string::npos);
  const Outcome measured =
      run_ferry({"bench", network, "--bind", binding, "--no-peak", "--repeat", "3", "--max-repeat", "3"});
  CAPTURE(measured.err);
  CHECK(measured.code == 0);
}

TEST_CASE("bindings that do not fit are refused") {
  const Folder folder;
  const std::string network = write_network(folder), binding = write_shape(folder, {2, 3, 1});
  const auto error_of = [&](const std::string& bound) {
    return run_ferry({"run", network, "--bind", bound, "--arg", "x=:iota"}).err;
  };
  CHECK(error_of("shape=3") == "ferry: --bind shape=3: expected NAME=@FILE.npy\n");
  CHECK(error_of(binding).find("input 'shape': expected 2 as size 0, got [3]") != std::string::npos);
  CHECK(run_ferry({"run", "-e", "def f(float(N) A) -> (B) { B(i) = A(i) }", "--bind", binding}).err ==
        "ferry: --bind " + binding + ": expected a network, got -e\n");
}

TEST_CASE("--emit graph shows a network as it was imported, after any pass, and after all of them") {
  const Folder folder;
  test::ModelBytes model;
  model.input("x", {2, 3}).node("Transpose", {"x"}, {"there"}).node("Transpose", {"there"}, {"back"});
  model.node("Relu", {"back"}, {"y"}).output("y");
  const std::string network = folder.file("net.onnx", model.text());
  const auto graph = [&](std::vector<std::string> after) {
    std::vector<std::string> words = {"compile", network, "--target", "x86-64-v3", "--emit", "graph"};
    words.insert(words.end(), after.begin(), after.end());
    return run_ferry(words);
  };
  const auto has_transposes = [](const Outcome& outcome) { return outcome.out.find("transpose") != std::string::npos; };
  CHECK(has_transposes(graph({"--after", "import"})));
  CHECK(has_transposes(graph({"--after", "widen_floats"})));
  CHECK_FALSE(has_transposes(graph({"--after", "remove_moves"})));
  CHECK(graph({"--after", "alias_moves"}).out == graph({}).out);
  CHECK(graph({}).out.find("relu") != std::string::npos);
  const Outcome unknown = graph({"--after", "remove_move"});
  CHECK(unknown.code == 2);
  CHECK(unknown.err.starts_with("ferry: there is no pass 'remove_move'; expected one of: import, widen_floats, "));
  CHECK(unknown.err.ends_with("; did you mean 'remove_moves'?\n"));
}

TEST_CASE("--int8 says whether layers of integers are sums of integers: where that is faster, always, or never") {
  const Folder folder;
  const std::string network = write_quantized_network(folder);
  const auto compile = [&](const std::vector<std::string>& choice) {
    std::vector<std::string> words = {"compile", network, "--target", "raspberry-pi-4", "--emit", "graph"};
    words.insert(words.end(), choice.begin(), choice.end());
    return run_ferry(words);
  };
  const Outcome always = compile({"--int8", "always"}), automatic = compile({"--int8", "auto"}),
                off = compile({"--int8", "off"});
  for (const Outcome* outcome : {&always, &automatic, &off}) CHECK_MESSAGE(outcome->code == 0, outcome->err);
  CHECK(contains(always.out, "quantized_conv"));
  CHECK_FALSE(contains(always.out, "in_floats"));
  // By Winograd's algorithm, the layer takes less time in float32 on this board.
  CHECK(contains(automatic.out, "quantized_conv"));
  CHECK(contains(automatic.out, "in_floats"));
  CHECK_FALSE(contains(off.out, "quantized_conv"));
  CHECK(compile({}).out == automatic.out);
  for (const std::string word : {"on", "ALWAYS", "", "8"}) {
    CAPTURE(word);
    const Outcome refused = compile({"--int8", word});
    CHECK(refused.code == 2);
    CHECK(contains(refused.err, "--int8"));
    for (const char* known : {"auto", "always", "off"}) CHECK(contains(refused.err, known));
  }
}
