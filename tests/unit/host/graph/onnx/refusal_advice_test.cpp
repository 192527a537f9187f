#include <doctest/doctest.h>

#include "host/graph/onnx/advice.h"
#include "host/graph/onnx/import.h"
#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

std::string advice_of(const ModelBytes& bytes) {
  const graph::onnx::Model model = parsed(bytes.text());
  const graph::onnx::Imported imported = import_model(model);
  REQUIRE(!imported.refusals.empty());
  return advice_on_refusals(model, {}, imported);
}

TEST_CASE("a refusal is told together with the one size that helps if it is fixed") {
  ModelBytes model;
  model.input("x", {2, 3, "H", 8}).node("Squeeze", {"x"}, {"y"}).output("y");
  CHECK(advice_of(model) == "ferry imports this network if H is the same in every call: --fix H=SIZE");
}

TEST_CASE("a refusal is told together with the inputs that decide shapes") {
  ModelBytes model;
  model.input("x", {2, 6}).input("shape", {"rank"}, kInt64).node("Reshape", {"x", "shape"}, {"y"}, {}, "view");
  model.output("y");
  CHECK(advice_of(model) == "inputs that decide shapes may be bound to their contents: --bind shape=@FILE.npy");
}

TEST_CASE("an operator that ferry lacks is refused without advice on sizes") {
  ModelBytes model;
  model.input("x", {"N", 3}).node("Det", {"x"}, {"y"}).output("y");
  CHECK(advice_of(model).empty());
}

TEST_CASE("an operator that ferry lacks is refused together with what computes the same") {
  for (const std::string op : {"Det", "BitCast", "DeformConv"}) {
    CAPTURE(op);
    CHECK(!graph::onnx::advice_about("", op).empty());
  }
}

}  // namespace
}  // namespace ferry::test
