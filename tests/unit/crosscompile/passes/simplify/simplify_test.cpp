#include "crosscompile/passes/simplify/simplify.h"

#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/validator.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <chrono>
#include <limits>

using namespace ferry;
using namespace ferry::ir;
using passes::can_prove;
using passes::simplify;

namespace {

BufferRef buffer(const char* name, DType dtype, std::vector<Expr> shape, Scope scope = Scope::parameter) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = std::move(shape);
  made->scope = scope;
  return made;
}

const Expr x = Var::make("x"), y = Var::make("y"), z = Var::make("z"), n = Var::make("n"), m = Var::make("m");
const Expr f = Var::make("f", DType::f32), p = Var::make("p", DType::boolean);

std::vector<Expr> in_range(const Expr& var, const Expr& low, const Expr& high) { return {var >= low, var < high}; }

std::string text(const Expr& expr, const std::vector<Expr>& facts = {}) { return to_text(simplify(expr, facts)); }

std::vector<Expr> operator+(std::vector<Expr> a, const std::vector<Expr>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Stmt loop(const Expr& var, Expr extent, Stmt body) {
  return For::make(var, 0, std::move(extent), ForKind::serial, std::move(body));
}

}  // namespace

TEST_CASE("sums of terms with constant coefficients cancel") {
  CHECK(text((x * 8 + y) - x * 8) == "y");
  CHECK(text(x + y - x) == "y");
  CHECK(text(x * 3 + x * 5) == "x * 8");
  CHECK(text((x + 1) * (x - 1) - x * x) == "-1");
  CHECK(text((n + 1) * m - n * m) == "m");
  CHECK(text(x + 0 * y) == "x");
  CHECK(text(-(-x)) == "x");
}

TEST_CASE("a division by a multiple of a step does not see what is smaller than the step") {
  const std::vector<Expr> facts = in_range(y, 0, 4) + in_range(z, 0, 8) + in_range(x, 0, 100);
  const std::vector<Expr> wide = in_range(y, 0, 4) + in_range(z, 0, 9) + in_range(x, 0, 100);
  CHECK(text((x * 32 + y * 8 + z) / 64, facts) == "x / 2");
  CHECK(text((x * 32 + y * 8 + z) % 64, facts) == "y * 8 + z + x % 2 * 32");
  CHECK(text((x * 32 + y * 8 + z) / 64 * 64 + (x * 32 + y * 8 + z) % 64, facts) == "y * 8 + z + x * 32");
  CHECK(text((x * 96 + n * 64 + y * 8 + z) / 64, facts) == "n + x * 3 / 2");
  // The remainder is wider than the step.
  CHECK(text((x * 32 + y * 8 + z) / 64, wide) == "(x * 32 + y * 8 + z) / 64");
  CHECK(text((x * 32 - z) / 64, facts) == "(x * 32 - z) / 64");
}

TEST_CASE("what cannot be said more shortly is returned as the very same node") {
  const Expr index = (n * y + x) * m + z;
  CHECK(simplify(index).same_as(index));
  const Expr guard = x * 8 + y < n;
  CHECK(simplify(guard).same_as(guard));
}

TEST_CASE("quotients and remainders of split loops fold away") {
  const std::vector<Expr> inner = in_range(y, 0, 8);
  CHECK(text((x * 8 + y) / 8, inner) == "x");
  CHECK(text((x * 8 + y) % 8, inner) == "y");
  CHECK(text((x * 8 + y * 4) / 4, inner) == "y + x * 2");
  CHECK(text((x * 16 + y * 2) / 16, inner) == "x");
  CHECK(text((x * 8 + y) / 8, in_range(y, 0, 9)) == "x + y / 8");
  CHECK(text((x * 8 - 1) / 8) == "x - 1");
  CHECK(text(x / 8 * 8 + x % 8) == "x");
  CHECK(text(x / 4 / 2) == "x / 8");
  CHECK(text(x % 16 % 4) == "x % 4");
  CHECK(text(y / 8, inner) == "0");
  CHECK(text(y % 8, inner) == "y");
}

TEST_CASE("quotients and remainders by a symbolic width fold away") {
  const std::vector<Expr> inside = in_range(x, 0, n);
  CHECK(text((y * n + x) / n, inside) == "y");
  CHECK(text((y * n + x) % n, inside) == "x");
  CHECK(text((y * n) % n) == "0");
  // n may be 0, in which case the quotient is 0.
  CHECK(text((y * n) / n) == "y * n / n");
  CHECK(text((y * n) / n, {n > 0}) == "y");
}

TEST_CASE("a fused index taken apart and put together is itself") {
  const BufferRef a = buffer("A", DType::i64, {n, m});
  const Expr fused = Var::make("fused");
  const Stmt body = Store::make(a, {fused / m, fused % m}, fused / m * m + fused % m);
  Function function;
  function.name = "fuse";
  function.parameters = {{"A", ParameterKind::tensor, Direction::out, a, {}}};
  function.symbols = {n, m};
  function.body = loop(fused, n * m, body);
  CHECK(to_text(simplify(function).body) ==
        "for (fused = 0; fused < n * m; ++fused) {\n  A[fused / m, fused % m] = fused;\n}\n");
}

TEST_CASE("a size known to be divisible makes tails disappear") {
  const std::vector<Expr> divisible = {n % 8 == 0, n >= 0};
  CHECK(text(n % 8, divisible) == "0");
  CHECK(text(n / 8 * 8, divisible) == "n");
  CHECK(text((n + 7) / 8, divisible) == "n / 8");
  const std::vector<Expr> loops = divisible + in_range(x, 0, (n + 7) / 8) + in_range(y, 0, 8);
  CHECK(can_prove(x * 8 + y < n, loops));
  CHECK_FALSE(can_prove(x * 8 + y < n, std::vector<Expr>{n >= 0} + in_range(x, 0, (n + 7) / 8) + in_range(y, 0, 8)));
}

TEST_CASE("minima, maxima and comparisons are decided by ranges") {
  const std::vector<Expr> facts = in_range(x, 0, 8) + in_range(y, 3, 5);
  CHECK(text(min(x, 7), facts) == "x");
  CHECK(text(max(x, 0), facts) == "x");
  CHECK(text(min(x, 6), facts) == "min(x, 6)");
  CHECK(text(x < 8, facts) == "true");
  CHECK(text(x + y >= 3, facts) == "true");
  CHECK(text(x * y > 28, facts) == "false");
  CHECK(text(x == 9, facts) == "false");
  CHECK(text(x != -1, facts) == "true");
  CHECK(text(select(x < 100, y, z), facts) == "y");
  CHECK(text(min(n, n + 3)) == "n");
  CHECK(text(min(min(x, 5), 3)) == "min(x, 3)");
  CHECK(text(x * 4 == y * 4 + 2) == "false");
}

TEST_CASE("comparisons lose what both sides share") {
  CHECK(text(x + n < y + n) == "x < y");
  CHECK(text(x * 8 + 3 < 32) == "x < 4");
  CHECK(text(x * 4 <= y * 4) == "x <= y");
  CHECK(text(x * 4 > n * 4 + 8) == "x >= n + 3");
  CHECK(text(x + 3 == y + 3) == "x == y");
}

TEST_CASE("of two bounds, one that holds anyway goes") {
  const std::vector<Expr> facts = in_range(x, 0, 100) + in_range(y, 0, 8) + in_range(n, 0, 1000) + in_range(z, 0, 1000);
  CHECK(text(x * 8 + y <= min(x * 8 + 7, n - 1), facts) == "x * 8 + y < n");
  CHECK(text(x * 8 + y <= min(x * 8 + 7, n - 1) + 2, facts) == "x * 8 + y <= n + 1");
  CHECK(text(max(x * 8, z) <= x * 8 + y, facts) == "z <= x * 8 + y");
}

TEST_CASE("symbolic bounds prove guards of nested loops") {
  const Expr h = Var::make("H"), w = Var::make("W");
  const std::vector<Expr> facts = std::vector<Expr>{h >= 0, w >= 0} + in_range(y, 0, h) + in_range(x, 0, w);
  CHECK(can_prove(y * w + x < h * w, facts));
  CHECK(can_prove(y * w + x >= 0, facts));
  CHECK_FALSE(can_prove(y * w + x + 1 < h * w, facts));
  const std::vector<Expr> padded = facts + in_range(z, 0, 3);
  CHECK(can_prove(y + z < h + 2, padded));
  CHECK_FALSE(can_prove(y + z < h + 1, padded));
  CHECK(can_prove(min(y + 4, h) - y <= 4, facts));
  CHECK(can_prove(min(y + 4, h) - y > 0, facts));
  CHECK(can_prove(max(y - 1, 0) <= y, facts));
}

TEST_CASE("a tail's length is at least one where it runs") {
  const std::vector<Expr> facts = std::vector<Expr>{n >= 0} + in_range(x, 0, (n + 7) / 8);
  CHECK(can_prove(x * 8 < n, facts));
  CHECK(can_prove(n - x * 8 >= 1, facts));
  CHECK(can_prove(min(8, n - x * 8) >= 1, facts));
}

TEST_CASE("conditions implied by others go") {
  CHECK(text(x < 8 && x < 4) == "x < 4");
  CHECK(text(x < 8 || x < 4) == "x < 8");
  CHECK(text(x < 8 && x >= 8) == "false");
  CHECK(text(!(x < 8)) == "x >= 8");
  CHECK(text(!!p) == "p");
  CHECK(text(p && p) == "p");
  CHECK(text(p && !p) == "false");
  CHECK(text(if_then_else(x < 4, if_then_else(x < 8, y, z), n)) == "x < 4 ? y : n");
}

TEST_CASE("what guards an index is not taken from it when both sides are computed") {
  const BufferRef a = buffer("A", DType::i64, {n});
  const Expr element = Load::make(a, {min(x, n - 1)});
  // The load is executed for x >= n too.
  CHECK(text(select(x < n, element, 0)) == "select(x < n, A[min(x, n - 1)], 0)");
  CHECK(text(x < n && element > 0) == "x < n && A[min(x, n - 1)] > 0");
  CHECK(text(if_then_else(x < n, element, 0)) == "x < n ? A[x] : 0");
}

TEST_CASE("floats change only where every value stays as it was") {
  CHECK(text(f * 1) == "f");
  CHECK(text(f / 1) == "f");
  CHECK(text(f - 0) == "f");
  CHECK(text(f + constant(DType::f32, -0.0)) == "f");
  // -0 + 0 is 0.
  CHECK(text(f + 0) == "f + 0.0f");
  CHECK(text(f * 0) == "f * 0.0f");
  CHECK(text(f - f) == "f - f");
  CHECK(text(f / f) == "f / f");
  CHECK(text((f + 1) + 2) == "f + 1.0f + 2.0f");
  CHECK(text(f == f) == "f == f");
  CHECK(text(!(f < 1)) == "!(f < 1.0f)");
  CHECK(text(Binary::make(BinaryOp::mul, Expr(1.5f), Expr(2.0f)) + f) == "3.0f + f");
}

TEST_CASE("data that wraps is not taken for an index") {
  const BufferRef a = buffer("A", DType::i64, {n});
  const Expr v = Load::make(a, {x}), s = Var::make("s", DType::i32);
  CHECK(text(v + 1 > v) == "A[x] + 1 > A[x]");
  CHECK(text(v * 8 / 8) == "A[x] * 8 / 8");
  CHECK(text(v + 1 - v) == "1");
  CHECK(text(s + 1 > s) == "s + 1i32 > s");
  CHECK(text(cast(DType::i64, cast(DType::u8, v)) / 256) == "0");
  CHECK(text(cast(DType::i64, cast(DType::i32, x)), in_range(x, 0, 100)) == "x");
  CHECK(text(cast(DType::i64, cast(DType::i8, x)), in_range(x, 0, 300)) == "i64(i8(x))");
}

TEST_CASE("ranges near the ends of 64 bits are not assumed to leave room") {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const std::vector<Expr> facts = in_range(x, 0, 10);
  CHECK(text(x + largest > x, facts) == "x + 9223372036854775807 > x");
  CHECK(text(x + (largest - 9) > x, facts) == "true");
  const std::vector<Expr> top = {x >= Expr(largest - 3)};
  CHECK(text((x + 8) / 8 > 0, top) == "(x + 8) / 8 > 0");
}

TEST_CASE("vectors of indices become one ramp") {
  const Expr lanes = Ramp::make(0, 1, 8);
  CHECK(text(Broadcast::make(x * 8, 8) + lanes) == "ramp(x * 8, 1, 8)");
  CHECK(text((Ramp::make(x * 8, 1, 8) - Broadcast::make(x * 8, 8))) == "ramp(0, 1, 8)");
  CHECK(text(Ramp::make(x * 8, 1, 8) / Broadcast::make(8, 8)) == "x8(x)");
  CHECK(text(Ramp::make(x * 8, 1, 8) % Broadcast::make(8, 8)) == "ramp(0, 1, 8)");
  CHECK(text(lanes * Broadcast::make(n, 8)) == "ramp(0, n, 8)");
  CHECK(text(lanes < Broadcast::make(8, 8)) == "x8(true)");
  CHECK(text(Ramp::make(x * 8, 1, 8) < Broadcast::make(n, 8), {x * 8 + 8 <= n}) == "x8(true)");
  CHECK(text(VectorReduce::make(ReduceOp::any, Broadcast::make(p, 4))) == "p");
}

TEST_CASE("loops that run once or never and blocks of nothing go") {
  const BufferRef a = buffer("A", DType::f32, {n});
  const Stmt store = Store::make(a, {x + y}, Expr(1.0f));
  CHECK_FALSE(simplify(loop(x, 0, store)).defined());
  CHECK_FALSE(simplify(loop(x, Expr(3) - 5, store)).defined());
  CHECK(to_text(simplify(For::make(x, 4, 1, ForKind::parallel, store))) == "A[4 + y] = 1.0f;\n");
  CHECK(to_text(simplify(loop(x, n, loop(y, (n + 1) - n, store)))) == "for (x = 0; x < n; ++x) {\n  A[x] = 1.0f;\n}\n");
  CHECK_FALSE(simplify(loop(x, n, Block::make({If::make(x < 0, store), loop(y, 0, store)}))).defined());
}

TEST_CASE("nested conditions join, implied ones vanish") {
  const BufferRef a = buffer("A", DType::f32, {n});
  const Stmt store = Store::make(a, {x}, Expr(1.0f));
  CHECK(to_text(simplify(If::make(x < n, If::make(y < m, store)))) == "if (x < n && y < m) {\n  A[x] = 1.0f;\n}\n");
  CHECK(to_text(simplify(loop(x, n, If::make(x < n, store)))) == "for (x = 0; x < n; ++x) {\n  A[x] = 1.0f;\n}\n");
  CHECK(to_text(simplify(If::make(x < n, If::make(x <= n, store)))) == "if (x < n) {\n  A[x] = 1.0f;\n}\n");
  const Stmt other = Store::make(a, {y}, Expr(2.0f));
  CHECK(to_text(simplify(If::make(x < n, other, If::make(x >= n, store, other)))) ==
        "if (x < n) {\n  A[y] = 2.0f;\n} else {\n  A[x] = 1.0f;\n}\n");
  // The inner condition may be evaluated only if the outer one holds.
  const Stmt guarded = If::make(x < n, If::make(Load::make(a, {x}) > 0, store));
  CHECK(to_text(simplify(guarded)) == "if (x < n) {\n  if (A[x] > 0.0f) {\n    A[x] = 1.0f;\n  }\n}\n");
}

TEST_CASE("a condition on memory is not remembered past a store") {
  const BufferRef a = buffer("A", DType::i64, {n});
  const Expr positive = Load::make(a, {x}) > 0;
  const Stmt store = Store::make(a, {x}, Expr(0));
  const Stmt twice = If::make(positive, Block::make({store, If::make(positive, store)}));
  CHECK(simplify(twice).same_as(twice));
}

TEST_CASE("what is asserted holds afterwards") {
  const BufferRef a = buffer("A", DType::f32, {n});
  const Stmt store = Store::make(a, {x}, Expr(1.0f));
  const Stmt body = Block::make({Assert::make(x < 4, 0), Assert::make(x < 8, 1), If::make(x < 5, store)});
  CHECK(to_text(simplify(body)) == "assert(x < 4, message 0);\nA[x] = 1.0f;\n");
}

TEST_CASE("lets of constants and names are replaced, unused ones dropped, others known") {
  const BufferRef a = buffer("A", DType::f32, {n});
  const Stmt store = Store::make(a, {x}, Expr(1.0f));
  CHECK(to_text(simplify(LetStmt::make(x, Expr(2) + 3, store))) == "A[5] = 1.0f;\n");
  CHECK(to_text(simplify(LetStmt::make(y, n * m, store))) == "A[x] = 1.0f;\n");
  const Stmt guarded = LetStmt::make(x, y + 1, If::make(x > y, store));
  CHECK(to_text(simplify(guarded)) == "i64 x = y + 1;\nA[x] = 1.0f;\n");
  CHECK(text(Let::make(x, y * 2, x + x - x * 2)) == "0");
}

TEST_CASE("allocations that nothing uses go, shapes are simplified") {
  const BufferRef t = buffer("T", DType::f32, {(x * 8 + 4) - x * 8}, Scope::local), a = buffer("A", DType::f32, {n});
  const Stmt store = Store::make(a, {x}, Expr(1.0f));
  CHECK(simplify(Allocate::make(t, store)).same_as(store));
  const Stmt use = Block::make({Store::make(t, {Expr(1)}, Expr(2.0f)), Store::make(a, {x}, Load::make(t, {Expr(1)}))});
  CHECK(to_text(simplify(Allocate::make(t, use))) == "local f32 T[4];\nT[1] = 2.0f;\nA[x] = T[1];\n");
}

TEST_CASE("masks that are certain go") {
  const BufferRef a = buffer("A", DType::f32, {n});
  const Expr lanes = Ramp::make(0, 1, 4);
  const auto masked = [&](int bound) {
    const Expr mask = lanes < Broadcast::make(bound, 4);
    return simplify(Store::make(a, {lanes}, Load::make(a, {lanes}, mask), mask));
  };
  CHECK(to_text(masked(4)) == "A[ramp(0, 1, 4)] = A[ramp(0, 1, 4)];\n");
  CHECK_FALSE(masked(0).defined());
  CHECK(to_text(masked(3)).find("where") != std::string::npos);
}

TEST_CASE("sizes are not negative, scalar arguments may be") {
  const Expr s = Var::make("s");
  const BufferRef a = buffer("A", DType::f32, {n, (n - s) / 2});
  Function function;
  function.name = "f";
  function.parameters = {{"A", ParameterKind::tensor, Direction::inout, a, {}},
                         {"s", ParameterKind::scalar, Direction::in, nullptr, s}};
  function.symbols = {n};
  const auto guarded = [&](const Expr& condition) {
    function.body = If::make(condition, Store::make(a, {Expr(0), Expr(0)}, Expr(1.0f)));
    return to_text(simplify(function).body);
  };
  CHECK(guarded(n >= 0) == "A[0, 0] = 1.0f;\n");
  CHECK(guarded(s >= 0) == "if (s >= 0) {\n  A[0, 0] = 1.0f;\n}\n");
  CHECK(guarded((n - s) / 2 >= 0) == "A[0, 0] = 1.0f;\n");
  function.requirements = {{n == 16, "n is 16"}};
  CHECK(guarded(n * 2 == 32) == "A[0, 0] = 1.0f;\n");
}

TEST_CASE("the deepest nesting allowed is simplified, and soon") {
  Expr deep = x, sum = x, chosen = x;
  for (int i = 0; i < 300; ++i) {
    deep = min(deep / 2 + i, y);
    sum = (sum + y) * 3 - x;
    chosen = select(chosen < i, y, x + i);
  }
  CHECK(simplify(deep).type() == kIndex);
  CHECK(simplify(sum).type() == kIndex);
  CHECK(simplify(chosen).type() == kIndex);
  Expr all = x < 1;
  for (int i = 2; i < 200; ++i) all = all && Load::make(buffer("A", DType::i64, {n}), {x}) < y + i;
  CHECK(simplify(all).type() == kBool);
}

TEST_CASE("simplifying a convolution takes less than two milliseconds") {
  const Expr o = Var::make("O"), c = Var::make("C"), h = Var::make("H"), w = Var::make("W");
  const BufferRef in = buffer("I", DType::f32, {c, h, w}), weights = buffer("K", DType::f32, {o, c, Expr(3), Expr(3)});
  const BufferRef out = buffer("Y", DType::f32, {o, h, w});
  const Expr oo = Var::make("oo"), oi = Var::make("oi"), yo = Var::make("yo"), yi = Var::make("yi"),
             xo = Var::make("xo"), xi = Var::make("xi"), rc = Var::make("rc"), ky = Var::make("ky"),
             kx = Var::make("kx");
  const Expr channel = oo * 4 + oi, row = yo * 4 + yi, column = xo * 16 + xi;
  const Expr source_row = row + ky - 1, source_column = column + kx - 1;
  const Expr inside = source_row >= 0 && source_row < h && source_column >= 0 && source_column < w;
  const Expr pixel = if_then_else(inside, Load::make(in, {rc, source_row, source_column}), 0.0f);
  const Stmt update =
      Store::make(out, {channel, row, column},
                  Load::make(out, {channel, row, column}) + pixel * Load::make(weights, {channel, rc, ky, kx}));
  const Stmt init = Store::make(out, {channel, row, column}, Expr(0.0f));
  Stmt body = Block::make({init, loop(rc, c, loop(ky, 3, loop(kx, 3, update)))});
  body = If::make(channel < o, If::make(row < h, If::make(column < w, body)));
  body = loop(oo, (o + 3) / 4,
              loop(yo, (h + 3) / 4, loop(xo, (w + 15) / 16, loop(oi, 4, loop(yi, 4, loop(xi, 16, body))))));
  Function function;
  function.name = "conv2d";
  function.parameters = {{"I", ParameterKind::tensor, Direction::in, in, {}},
                         {"K", ParameterKind::tensor, Direction::in, weights, {}},
                         {"Y", ParameterKind::tensor, Direction::out, out, {}}};
  function.symbols = {c, h, w, o};
  function.body = body;
  Function simplified = simplify(function);
  validate(simplified, "simplify");
  const std::string once = to_text(simplified);
  CHECK(to_text(simplify(simplified)) == once);
  double best = 1;
  for (int run = 0; run < 20; ++run) {
    const auto start = std::chrono::steady_clock::now();
    simplified = simplify(function);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  MESSAGE("simplify(conv2d): ", best * 1000, " ms");
#ifdef NDEBUG
  CHECK(best < 0.002);
#endif
}
