// Tests which expressions and statements are evaluated: guarding conditions, loops, lets, asserts.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 28;

Expr f32(double value) { return constant(Type(DType::f32), value); }

struct InOut {
  BufferRef in = make_buffer("in", DType::f32, 16), out = make_buffer("out", DType::f32, 16);
  std::vector<FunctionParameter> parameters{tensor(in, Direction::in), tensor(out, Direction::inout)};
  std::vector<Bytes> arguments{edge_bytes(DType::f32, 16), zeros(DType::f32, 16)};

  Case with(const char* name, Stmt body) const { return {make_function(name, parameters, std::move(body)), arguments}; }
};

}  // namespace

TEST_CASE("if_then_else evaluates only the chosen side") {
  const InOut t;
  const Expr i = Var::make("i");
  const Expr guarded = IfThenElse::make(i < Expr(10), load(t.in, i), load(t.in, Expr(kFar)));
  // The far index is reached only for i >= 10, which does not occur in the loop.
  std::vector<Case> cases{t.with("scalar", loop(i, Expr(10), store(t.out, i, guarded)))};
  const Expr nested = IfThenElse::make(
      i < Expr(4), f32(1), IfThenElse::make(i < Expr(8), load(t.in, i + Expr(8)), load(t.in, i - Expr(8)) * f32(2)));
  cases.push_back(t.with("nested", loop(i, Expr(16), store(t.out, i, nested))));
  check_everywhere(cases);
}

TEST_CASE("with a vector condition each lane chooses, and loads nothing of the other side") {
  const InOut t;
  const Expr lanes = Ramp::make(Expr(0), Expr(1), 16);
  const auto splat = [](Expr value) { return Broadcast::make(std::move(value), 16); };
  const Expr low = lanes < splat(Expr(6));
  const Expr near_or_far = select(low, lanes, splat(Expr(kFar)));
  std::vector<Case> cases;
  const auto add = [&](const char* name, const Expr& value) {
    cases.push_back(t.with(name, store(t.out, lanes, value)));
  };
  add("gather", IfThenElse::make(low, load(t.in, near_or_far), splat(f32(3))));
  add("consecutive", IfThenElse::make(low, splat(f32(3)), load(t.in, lanes)));
  const Expr none = lanes < splat(Expr(0));
  add("ramp_far", IfThenElse::make(none, load(t.in, Ramp::make(Expr(kFar), Expr(1), 16)), splat(f32(4))));
  add("scalar_far", IfThenElse::make(none, splat(load(t.in, Expr(kFar))), splat(f32(5))));
  add("nested", IfThenElse::make(lanes < splat(Expr(12)),
                                 IfThenElse::make(low, load(t.in, near_or_far), load(t.in, lanes) * splat(f32(2))),
                                 splat(load(t.in, Expr(2)))));
  // The base is itself loaded, and only if a lane needs it.
  const BufferRef offsets = make_buffer("offsets", DType::i64, 1);
  const Expr base = load(offsets, Expr(0));
  Case loaded_base =
      t.with("loaded_base",
             store(t.out, lanes, IfThenElse::make(low, load(t.in, Ramp::make(base, Expr(1), 16)), splat(f32(6)))));
  loaded_base.function.parameters.insert(loaded_base.function.parameters.begin(), tensor(offsets, Direction::in));
  loaded_base.arguments.insert(loaded_base.arguments.begin(), scalar_bytes(10));
  cases.push_back(loaded_base);
  check_everywhere(cases);
}

TEST_CASE("all lanes may choose together") {
  const InOut t;
  const Expr i = Var::make("i");
  const Expr at = Ramp::make(i * Expr(8), Expr(1), 8);
  const Expr value =
      IfThenElse::make(Broadcast::make(i < Expr(1), 8), load(t.in, at), load(t.in, Ramp::make(Expr(7), Expr(-1), 8)));
  check_everywhere({t.with("choice", loop(i, Expr(2), store(t.out, at, value)))});
}

TEST_CASE("branches, lets and loops over symbols run as written") {
  const InOut t;
  const Expr n = Var::make("n"), i = Var::make("i"), j = Var::make("j"), x = Var::make("x", Type(DType::f32)),
             k = Var::make("k");
  const Stmt inner = If::make((i + j) % Expr(2) == Expr(0),
                              LetStmt::make(x, load(t.in, i) * f32(2), store(t.out, i, x + load(t.out, i))),
                              store(t.out, j, Let::make(k, i * Expr(2), load(t.in, k % Expr(16))) - load(t.out, j)));
  std::vector<Case> cases;
  for (const std::int64_t size : {0, 1, 5, 16, -3}) {
    Case one = t.with("loops", loop(i, n,
                                    For::make(j, i - Expr(1), n - i, ForKind::serial,
                                              If::make(j >= Expr(0), If::make(j < Expr(16), inner)))));
    one.function.symbols = {n};
    one.arguments.push_back(scalar_bytes(size));
    one.ulps = 16;
    cases.push_back(std::move(one));
  }
  check_everywhere(cases);
}

TEST_CASE("scalar parameters of every type reach the kernel") {
  std::vector<Case> cases;
  for (const DType dtype : {DType::f32, DType::f64, DType::i8, DType::u16, DType::i32, DType::u64, DType::boolean}) {
    const BufferRef out = make_buffer("out", dtype, 1);
    const Expr value = Var::make("value", Type(dtype));
    Case one;
    one.function = make_function(
        "scalar", {{"value", ParameterKind::scalar, Direction::in, nullptr, value}, tensor(out, Direction::out)},
        store(out, Expr(0), value));
    const Bytes edges = edge_bytes(dtype, 12);
    one.arguments = {Bytes(edges.begin() + static_cast<std::ptrdiff_t>(dtype_bytes(dtype)),
                           edges.begin() + static_cast<std::ptrdiff_t>(2 * dtype_bytes(dtype))),
                     zeros(dtype, 1)};
    cases.push_back(std::move(one));
  }
  check_everywhere(cases);
}

TEST_CASE("a failed assertion ends the kernel with its message's number") {
  const InOut t;
  const Expr i = Var::make("i"), n = Var::make("n");
  std::vector<Case> cases;
  for (const std::int64_t size : {3, 16}) {
    Case one = t.with("checked", loop(i, n, Block::make({Assert::make(i < Expr(7), 1), store(t.out, i, f32(1))})));
    one.function.symbols = {n};
    one.function.messages = {"unused", "i is too large"};
    one.arguments.push_back(scalar_bytes(size));
    cases.push_back(std::move(one));
  }
  check_everywhere(cases);
}
