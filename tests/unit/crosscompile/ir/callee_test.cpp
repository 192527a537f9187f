#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/shuffle.h"
#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;

namespace {

BufferRef vector_of(std::string name, DType dtype) {
  auto made = std::make_shared<Buffer>();
  made->name = std::move(name);
  made->dtype = dtype;
  made->shape = {Expr(8)};
  return made;
}

}  // namespace

TEST_CASE("every function of math.def is found by its name, and by nothing else") {
  for (const MathSignature& known : math_functions()) {
    const std::optional<MathFunction> found = find_math(known.name);
    REQUIRE(found.has_value());
    CHECK(&signature_of(*found) == &known);
    CHECK(to_text(Callee(*found)) == known.name);
    CHECK(!find_math(std::string(known.name) + "f").has_value());
  }
  CHECK(!find_math("").has_value());
  CHECK(!find_math("bitcast").has_value());
}

TEST_CASE("a C function with the name of an operation or of a math function is neither") {
  const Expr x = Var::make("x", Type(DType::f64));
  const Expr external = Call::make(x.type(), Callee::external("exp"), {x});
  CHECK(!equal(external, Call::make(x.type(), MathFunction::exp, {x})));
  CHECK(!equal(external, Call::make(x.type(), Callee::intrinsic("exp"), {x})));
  CHECK(equal(external, Call::make(x.type(), Callee::external("exp"), {x})));
  CHECK(to_text(external.as<Call>()->callee) == "exp");

  const Stmt called = make_extern_call("barrier", {});
  CHECK(!is_barrier(*called.as<Evaluate>()));
  CHECK(!is_collective(called));
  CHECK(extern_functions(called) == std::vector<std::string>{"barrier"});
  CHECK(is_collective(make_barrier()));
  CHECK(extern_functions(make_barrier()).empty());
}

TEST_CASE("operations refuse operands that they are not defined for") {
  const Expr i = Var::make("i"), x = Var::make("x", Type(DType::f32)), wide = Var::make("w", Type(DType::f64));
  CHECK_THROWS_AS(Call::make(Type(DType::i32), CallOp::barrier, {i}), InternalError);
  CHECK_THROWS_AS(Call::make(Type(DType::i32), CallOp::wait_copies, {i}), InternalError);
  CHECK_THROWS_AS(Call::make(Type(DType::i32), CallOp::prefetch, {x}), InternalError);
  CHECK_THROWS_AS(Call::make(Type(DType::u64), CallOp::address_of, {i}), InternalError);
  CHECK_THROWS_AS(Call::make(x.type(), CallOp::shuffle_xor, {wide, i}), InternalError);
  CHECK_THROWS_AS(Call::make(wide.type(), CallOp::scale, {wide, wide}), InternalError);
  CHECK_THROWS_AS(Call::make(x.type(), CallOp::bitcast, {wide}), InternalError);
  CHECK_THROWS_AS(Call::make(x.type(), Callee::external(""), {x}), InternalError);

  const BufferRef a = vector_of("A", DType::f32);
  CHECK(prefetched(*make_prefetch(Load::make(a, {i})).as<Evaluate>())->buffer == a);
  CHECK(addressed(address_of(a, {i}))->buffer == a);
  CHECK(addressed(x) == nullptr);
  CHECK(shuffle_of(*make_shuffle_xor(a, {i}, x, Expr(1)).as<Store>()) != nullptr);
}
