#include "tests/unit/crosscompile/ir/harness.h"

#include <numeric>

using namespace ferry;
using namespace ferry::ir;

namespace {

Expr load(const BufferRef& buffer, std::vector<Expr> indices) { return Load::make(buffer, std::move(indices)); }
Stmt loop(const Expr& var, Expr extent, Stmt body, ForKind kind = ForKind::serial) {
  return For::make(var, 0, std::move(extent), kind, std::move(body));
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a matrix product is what three loops make it") {
  const Expr m = Var::make("M"), n = Var::make("N"), k = Var::make("K");
  const Expr i = Var::make("i"), j = Var::make("j"), r = Var::make("r");
  const BufferRef a = make_buffer("A", DType::f32, {m, k}), b = make_buffer("B", DType::f32, {k, n}),
                  c = make_buffer("C", DType::f32, {m, n});
  std::vector<float> av(12), bv(20), cv(15, -1), expected(15);
  std::iota(av.begin(), av.end(), 1.0f);
  std::iota(bv.begin(), bv.end(), -3.0f);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) {
      for (int z = 0; z < 4; ++z) expected[y * 5 + x] += av[y * 4 + z] * bv[z * 5 + x];
    }
  }
  Harness h;
  h.tensor(a, av, Direction::in);
  h.tensor(b, bv, Direction::in);
  h.tensor(c, cv, Direction::out);
  h.symbol(m, 3);
  h.symbol(k, 4);
  h.symbol(n, 5);
  const Stmt update = Store::make(c, {i, j}, load(c, {i, j}) + load(a, {i, r}) * load(b, {r, j}));
  const Stmt nest = loop(j, n, Block::make({Store::make(c, {i, j}, Expr(0.0f)), loop(r, k, update)}));
  CHECK(h.run(loop(i, m, nest, ForKind::parallel)) == 0);
  CHECK(cv == expected);
}

TEST_CASE("an index outside its buffer is refused, with the buffer, the index and the shape") {
  const Expr n = Var::make("n"), i = Var::make("i");
  const BufferRef a = make_buffer("A", DType::f32, {n, Expr(3)});
  std::vector<float> data(12);
  Harness h;
  h.tensor(a, data);
  h.symbol(n, 4);
  CHECK(h.complaint(Store::make(a, {Expr(3), Expr(3)}, Expr(1.0f))) ==
        "A[3, 3]: index 1 is outside 0:3 (shape [4, 3])");
  CHECK(h.complaint(Evaluate::make(load(a, {Expr(-1), Expr(0)}))) == "A[-1, 0]: index 0 is outside 0:4 (shape [4, 3])");
  CHECK(h.complaint(Evaluate::make(load(a, {Expr(12)}))) == "'A' at position 12 is outside 0:12 (shape [4, 3])");
  CHECK(h.complaint(Evaluate::make(load(a, {Expr(11)}))) == "none");
}

TEST_CASE("reading what was never written is refused") {
  const BufferRef t = make_buffer("T", DType::i32, {Expr(4)}, Scope::local),
                  o = make_buffer("O", DType::i32, {Expr(1)});
  const Expr i = Var::make("i");
  std::vector<std::int32_t> out(1);
  Harness h;
  h.tensor(o, out, Direction::out);
  const Stmt fill = Store::make(t, {Expr(1)}, constant(DType::i32, std::int64_t{7}));
  const auto read = [&](int index) { return Store::make(o, {Expr(0)}, load(t, {Expr(index)})); };
  CHECK(h.complaint(Allocate::make(t, Block::make({fill, read(1)}))) == "none");
  CHECK(out[0] == 7);
  CHECK(h.complaint(Allocate::make(t, Block::make({fill, read(2)}))) ==
        "a value is read that was never written: 'T' at position 2");
  // The contents are lost at the end of the allocation.
  const Stmt first = If::make(i == 0, fill);
  CHECK(contains(h.complaint(loop(i, 2, Allocate::make(t, Block::make({first, read(1)})))), "never written"));
  CHECK(contains(h.complaint(Evaluate::make(load(o, {Expr(0)}))), "never written"));
}

TEST_CASE("an input cannot be written") {
  const BufferRef a = make_buffer("A", DType::i32, {Expr(4)});
  std::vector<std::int32_t> data(4);
  Harness h;
  h.tensor(a, data, Direction::in);
  CHECK(contains(h.complaint(Store::make(a, {Expr(0)}, load(a, {Expr(1)}))), "an input is written"));
}

TEST_CASE("dependent iterations of a parallel loop are found, independent ones pass") {
  const BufferRef a = make_buffer("A", DType::i32, {Expr(16)});
  const Expr i = Var::make("i"), one = constant(DType::i32, std::int64_t{1});
  std::vector<std::int32_t> data(16);
  Harness h;
  h.tensor(a, data);
  const auto parallel = [&](Stmt body) { return loop(i, 8, std::move(body), ForKind::parallel); };
  CHECK(h.complaint(parallel(Store::make(a, {i}, load(a, {i}) + one))) == "none");
  CHECK(h.complaint(parallel(Store::make(a, {i}, load(a, {i + 8})))) == "none");
  CHECK(contains(h.complaint(parallel(Store::make(a, {i}, load(a, {i + 1})))), "two iterations"));
  CHECK(contains(h.complaint(parallel(Store::make(a, {i + 1}, load(a, {i})))), "two iterations"));
  CHECK(contains(h.complaint(parallel(Store::make(a, {Expr(0)}, one))), "two iterations"));
  CHECK(contains(h.complaint(parallel(Store::make(a, {i / 2}, load(a, {i / 2}) + one))), "two iterations"));
  // The first of two loops in sequence may pass values to the second.
  const Stmt twice =
      Block::make({parallel(Store::make(a, {i}, one)), parallel(Store::make(a, {i + 8}, load(a, {7 - i})))});
  CHECK(h.complaint(twice) == "none");
}

TEST_CASE("a buffer of an iteration's own is no race, one around the parallel loop is") {
  const BufferRef t = make_buffer("T", DType::i32, {Expr(1)}, Scope::local),
                  a = make_buffer("A", DType::i32, {Expr(8)});
  const Expr i = Var::make("i");
  std::vector<std::int32_t> data(8);
  Harness h;
  h.tensor(a, data, Direction::out);
  const Stmt use =
      Block::make({Store::make(t, {Expr(0)}, cast(DType::i32, i)), Store::make(a, {i}, load(t, {Expr(0)}))});
  CHECK(h.complaint(loop(i, 8, Allocate::make(t, use), ForKind::parallel)) == "none");
  CHECK(data[5] == 5);
  CHECK(contains(h.complaint(Allocate::make(t, loop(i, 8, use, ForKind::parallel))), "two iterations"));
}

TEST_CASE("buffers that share workspace bytes lose their contents to each other") {
  const BufferRef t = make_buffer("T", DType::i32, {Expr(16)}, Scope::global),
                  u = make_buffer("U", DType::i32, {Expr(4)}, Scope::global),
                  o = make_buffer("O", DType::i32, {Expr(1)});
  std::vector<std::int32_t> out(1);
  Harness h;
  h.tensor(o, out, Direction::out);
  h.function.call_workspace = Expr(128);
  const Expr seven = constant(DType::i32, std::int64_t{7});
  const auto program = [&](int offset) {
    return Allocate::make(t,
                          Block::make({Store::make(t, {Expr(1)}, seven),
                                       Allocate::make(u, Store::make(u, {Expr(1)}, seven), Expr(offset)),
                                       Store::make(o, {Expr(0)}, load(t, {Expr(1)}))}),
                          Expr(0));
  };
  CHECK(h.complaint(program(64)) == "none");
  CHECK(out[0] == 7);
  CHECK(contains(h.complaint(program(0)), "never written: 'T' at position 1"));
  CHECK(contains(h.complaint(program(128)), "has no place at offset 128"));
  CHECK(contains(h.complaint(program(32)), "has no place at offset 32"));
}

TEST_CASE("each thread has its own thread workspace, all share the call's") {
  const BufferRef t = make_buffer("T", DType::i32, {Expr(2)}, Scope::global),
                  a = make_buffer("A", DType::i32, {Expr(8)});
  const Expr i = Var::make("i");
  std::vector<std::int32_t> data(8);
  Harness h;
  h.tensor(a, data, Direction::out);
  h.function.call_workspace = Expr(64);
  h.function.thread_workspace = Expr(64);
  const Stmt use =
      Block::make({Store::make(t, {Expr(0)}, cast(DType::i32, i)), Store::make(a, {i}, load(t, {Expr(0)}))});
  const auto inside = [&](ir::WorkspaceKind which) {
    return loop(i, 8, Allocate::make(t, use, Expr(0), which), ForKind::parallel);
  };
  CHECK(h.complaint(inside(ir::WorkspaceKind::thread)) == "none");
  CHECK(contains(h.complaint(inside(ir::WorkspaceKind::call)), "two iterations"));
  CHECK(contains(h.complaint(Allocate::make(t, loop(i, 8, use, ForKind::parallel), Expr(0), ir::WorkspaceKind::thread)),
                 "another thread's workspace"));
}

TEST_CASE("strides place the elements of a parameter") {
  const Expr s = Var::make("s"), i = Var::make("i"), j = Var::make("j");
  const BufferRef a = make_buffer("A", DType::i32, {Expr(2), Expr(3)}, Scope::parameter, {s, Expr(2)}),
                  o = make_buffer("O", DType::i32, {Expr(2), Expr(3)});
  std::vector<std::int32_t> data(20), out(6);
  std::iota(data.begin(), data.end(), 0);
  Harness h;
  h.tensor(a, data, Direction::in);
  h.tensor(o, out, Direction::out);
  h.symbol(s, 10);
  CHECK(h.run(loop(i, 2, loop(j, 3, Store::make(o, {i, j}, load(a, {i, j}))))) == 0);
  CHECK(out == std::vector<std::int32_t>{0, 2, 4, 10, 12, 14});
  // The last valid position is 14.
  CHECK(h.complaint(Evaluate::make(load(a, {Expr(14)}))) == "none");
  CHECK(contains(h.complaint(Evaluate::make(load(a, {Expr(15)}))), "outside 0:15"));
}

TEST_CASE("after flattening a strided vector is indexed by position") {
  const BufferRef a = make_buffer("A", DType::i32, {Expr(3)}, Scope::parameter, {Expr(4)}),
                  o = make_buffer("O", DType::i32, {Expr(1)});
  std::vector<std::int32_t> data{0, 1, 2, 3, 4, 5, 6, 7, 8}, out(1);
  Harness h;
  h.tensor(a, data, Direction::in);
  h.tensor(o, out, Direction::out);
  const Stmt copy = Store::make(o, {Expr(0)}, load(a, {Expr(2)}));
  h.run(copy);
  CHECK(out[0] == 8);
  h.function.flat = true;
  h.run(copy);
  CHECK(out[0] == 2);
}

TEST_CASE("a zero-dimensional buffer holds one element, by no index or by position 0") {
  const BufferRef a = make_buffer("A", DType::f32, {});
  std::vector<float> data{3};
  Harness h;
  h.tensor(a, data);
  h.run(Store::make(a, {}, load(a, {}) * 2));
  h.run(Store::make(a, {Expr(0)}, load(a, {Expr(0)}) + 1));
  CHECK(data[0] == 7);
}

TEST_CASE("a failed assertion leaves the kernel with its number") {
  const BufferRef a = make_buffer("A", DType::i32, {Expr(8)});
  const Expr i = Var::make("i");
  std::vector<std::int32_t> data(8);
  Harness h;
  h.tensor(a, data);
  h.function.messages = {"first", "second"};
  const Stmt body = Block::make({Assert::make(i < 3, 1), Store::make(a, {i}, constant(DType::i32, std::int64_t{1}))});
  CHECK(h.run(loop(i, 8, body)) == 2);
  CHECK(data == std::vector<std::int32_t>{1, 1, 1, 0, 0, 0, 0, 0});
  CHECK(h.run(loop(i, 8, Assert::make(i < 3, 0), ForKind::parallel)) == 1);
  CHECK(h.run(loop(i, 8, Assert::make(i < 8, 0), ForKind::parallel)) == 0);
}

TEST_CASE("arguments that break a requirement are refused") {
  const Expr n = Var::make("n");
  Harness h;
  h.symbol(n, 4);
  h.function.requirements = {{n % 3 == 0, "n is a multiple of 3"}};
  CHECK(h.complaint(Evaluate::make(n)) == "test: the arguments break the requirement: n is a multiple of 3");
}

TEST_CASE("scalars arrive in their own type") {
  const Expr f = Var::make("f", DType::f64), b = Var::make("b", DType::i8), p = Var::make("p", DType::boolean);
  const BufferRef o = make_buffer("O", DType::f64, {Expr(3)});
  std::vector<double> out(3);
  double fv = 2.5;
  std::int8_t bv = -7;
  std::uint8_t pv = 1;
  Harness h;
  h.scalar(f, fv);
  h.scalar(b, bv);
  h.scalar(p, pv);
  h.tensor(o, out, Direction::out);
  h.run(Block::make({Store::make(o, {Expr(0)}, f), Store::make(o, {Expr(1)}, cast(DType::f64, b)),
                     Store::make(o, {Expr(2)}, cast(DType::f64, p))}));
  CHECK(out == std::vector<double>{2.5, -7, 1});
}

TEST_CASE("a convolution of a million operations runs in well under a second") {
  // 16 channels of 16 x 16 pixels, 16 outputs, 3 x 3 window: 14 * 14 * 16 * 16 * 9 = 451,584 products and sums.
  const BufferRef in = make_buffer("I", DType::f32, {Expr(16), Expr(16), Expr(16)});
  const BufferRef w = make_buffer("W", DType::f32, {Expr(16), Expr(16), Expr(3), Expr(3)});
  const BufferRef out = make_buffer("O", DType::f32, {Expr(16), Expr(14), Expr(14)});
  const Expr o = Var::make("o"), y = Var::make("y"), x = Var::make("x"), c = Var::make("c"), dy = Var::make("dy"),
             dx = Var::make("dx");
  std::vector<float> iv(16 * 16 * 16, 1), wv(16 * 16 * 9, 2), ov(16 * 14 * 14);
  Harness h;
  h.tensor(in, iv, Direction::in);
  h.tensor(w, wv, Direction::in);
  h.tensor(out, ov, Direction::out);
  const Stmt update =
      Store::make(out, {o, y, x}, load(out, {o, y, x}) + load(in, {c, y + dy, x + dx}) * load(w, {o, c, dy, dx}));
  const Stmt reduce = loop(c, 16, loop(dy, 3, loop(dx, 3, update)));
  const Stmt pixel = Block::make({Store::make(out, {o, y, x}, Expr(0.0f)), reduce});
  CHECK(h.run(loop(o, 16, loop(y, 14, loop(x, 14, pixel)), ForKind::parallel)) == 0);
  CHECK(ov[100] == 16 * 9 * 2);
}
