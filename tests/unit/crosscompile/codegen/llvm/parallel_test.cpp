// Tests parallel loops, their captured variables and their workspace.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

Expr f32(double value) { return constant(Type(DType::f32), value); }

}  // namespace

TEST_CASE("a parallel loop sees everything around it: scalars, vectors, symbols, arrays") {
  const BufferRef in = make_buffer("in", DType::f32, 64), out = make_buffer("out", DType::f32, 64);
  const BufferRef table = make_buffer("table", DType::f32, 8, Scope::local);
  const Expr n = Var::make("n"), first = Var::make("first"), i = Var::make("i"), j = Var::make("j");
  const Expr scale = Var::make("scale", Type(DType::f32)), row = Var::make("row", Type(DType::f32, 8)),
             flag = Var::make("flag", kBool);
  const Expr at = Ramp::make(i * Expr(8), Expr(1), 8);
  const Expr value = select(Broadcast::make(flag, 8), load(in, at) * Broadcast::make(scale, 8), row) +
                     load(table, Ramp::make(Expr(0), Expr(1), 8));
  Stmt body = For::make(i, first, n - first, ForKind::parallel, store(out, at, value));
  body = LetStmt::make(row, load(in, Ramp::make(Expr(0), Expr(1), 8)), body);
  body = LetStmt::make(flag, n > Expr(3), body);
  body = Allocate::make(table, Block::make({loop(j, Expr(8), store(table, j, cast(DType::f32, j))), body}));
  std::vector<Case> cases;
  for (const std::int64_t size : {0, 1, 2, 3, 8}) {
    Case one;
    one.function = make_function("shared",
                                 {tensor(in, Direction::in),
                                  {"scale", ParameterKind::scalar, Direction::in, nullptr, scale},
                                  tensor(out, Direction::inout)},
                                 body);
    one.function.symbols = {n, first};
    one.arguments = {edge_bytes(DType::f32, 64), bytes_of(std::vector<float>{1.5f}), zeros(DType::f32, 64),
                     scalar_bytes(size), scalar_bytes(1)};
    one.ulps = 1;
    cases.push_back(std::move(one));
  }
  check_everywhere(cases);
}

TEST_CASE("parallel loops nest") {
  const BufferRef out = make_buffer("out", DType::i32, 60);
  const Expr i = Var::make("i"), j = Var::make("j"), k = Var::make("k");
  const Stmt innermost =
      store(out, (i * Expr(4) + j) * Expr(5) + k, cast(DType::i32, i * Expr(100) + j * Expr(10) + k));
  Case one;
  one.function = make_function(
      "nested", {tensor(out, Direction::out)},
      loop(i, Expr(3), loop(j, Expr(4), loop(k, Expr(5), innermost, ForKind::parallel)), ForKind::parallel));
  one.arguments = {zeros(DType::i32, 60)};
  Case two = one;
  const Expr x = Var::make("x"), y = Var::make("y");
  two.function =
      make_function("siblings", {tensor(out, Direction::out)},
                    Block::make({loop(x, Expr(60), store(out, x, cast(DType::i32, x)), ForKind::parallel),
                                 loop(y, Expr(60), store(out, y, load(out, y) * load(out, y)), ForKind::parallel)}));
  check_everywhere({one, two});
}

TEST_CASE("an assertion that fails inside a parallel loop ends the kernel") {
  const BufferRef out = make_buffer("out", DType::i32, 4);
  const Expr i = Var::make("i"), j = Var::make("j");
  Case one;
  one.function =
      make_function("checked", {tensor(out, Direction::out)},
                    Block::make({loop(i, Expr(4), Assert::make(i != Expr(2), 0), ForKind::parallel),
                                 loop(j, Expr(4), store(out, j, constant(Type(DType::i32), std::int64_t{7})))}));
  one.function.messages = {"two"};
  one.arguments = {zeros(DType::i32, 4)};
  check_everywhere({one});
}

TEST_CASE("workspace buffers lie in the call's and the thread's block") {
  const BufferRef in = make_buffer("in", DType::f32, 40), out = make_buffer("out", DType::f32, 40);
  const BufferRef whole = make_buffer("whole", DType::f32, 40, Scope::global);
  const BufferRef row = make_buffer("row", DType::f32, 10, Scope::global);
  const Expr a = Var::make("a"), i = Var::make("i"), j = Var::make("j"), k = Var::make("k");
  const Stmt fill_row = loop(j, Expr(10), store(row, j, load(whole, i * Expr(10) + j) + f32(1)));
  const Stmt use_row = loop(k, Expr(10), store(out, i * Expr(10) + k, load(row, Expr(9) - k)));
  const Stmt rows =
      loop(i, Expr(4), Allocate::make(row, Block::make({fill_row, use_row}), Expr(64), ir::WorkspaceKind::thread),
           ForKind::parallel);
  const Stmt fill = loop(a, Expr(40), store(whole, a, load(in, a) * f32(2)));
  Case one;
  one.function = make_function("workspace", {tensor(in, Direction::in), tensor(out, Direction::out)},
                               Allocate::make(whole, Block::make({fill, rows}), Expr(128), ir::WorkspaceKind::call));
  one.function.call_workspace = Expr(128 + 40 * 4);
  one.function.thread_workspace = Expr(64 + 10 * 4);
  one.arguments = {edge_bytes(DType::f32, 40), zeros(DType::f32, 40)};
  check_everywhere({one});
}

TEST_CASE("local arrays hold values between statements, whatever their indices") {
  const BufferRef in = make_buffer("in", DType::f32, 64), out = make_buffer("out", DType::f32, 64);
  const Expr i = Var::make("i"), j = Var::make("j"), k = Var::make("k");
  std::vector<Case> cases;
  for (const bool constant_indices : {true, false}) {
    const BufferRef local = make_buffer("local", DType::f32, 16, Scope::local);
    std::vector<Stmt> body;
    const Expr block = i * Expr(16);
    for (int v = 0; v < 4; ++v) {
      body.push_back(
          store(local, Ramp::make(Expr(v * 4), Expr(1), 4), load(in, Ramp::make(block + Expr(v * 4), Expr(1), 4))));
    }
    if (constant_indices) {
      for (int s = 0; s < 16; ++s) body.push_back(store(out, block + Expr(s), load(local, Expr(15 - s))));
    } else {
      body.push_back(loop(j, Expr(16), store(local, j, load(local, j) + load(local, Expr(15) - j))));
      body.push_back(loop(k, Expr(16), store(out, block + k, load(local, k))));
    }
    Case one;
    one.function = make_function("local", {tensor(in, Direction::in), tensor(out, Direction::out)},
                                 loop(i, Expr(4), Allocate::make(local, Block::make(body))));
    one.arguments = {edge_bytes(DType::f32, 64), zeros(DType::f32, 64)};
    cases.push_back(std::move(one));
  }
  check_everywhere(cases);
}
