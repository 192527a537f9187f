#include "crosscompile/ir/printer.h"

#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <functional>

using namespace ferry;
using namespace ferry::ir;

namespace {

BufferRef buffer(const char* name, DType dtype, std::vector<Expr> shape, Scope scope = Scope::parameter) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = std::move(shape);
  made->scope = scope;
  return made;
}

}  // namespace

TEST_CASE("expressions print with only the parentheses they need") {
  const Expr a = Var::make("a"), b = Var::make("b"), c = Var::make("c");
  CHECK(to_text(a + b * c) == "a + b * c");
  CHECK(to_text((a + b) * c) == "(a + b) * c");
  CHECK(to_text(a - (b - c)) == "a - (b - c)");
  CHECK(to_text(a - b - c) == "a - b - c");
  CHECK(to_text(a / (b * c)) == "a / (b * c)");
  CHECK(to_text(min(a, b) % 3) == "min(a, b) % 3");
  CHECK(to_text(a < b && (b < c || a == c)) == "a < b && (b < c || a == c)");
  CHECK(to_text(a < b || (b < c && a == c)) == "a < b || (b < c && a == c)");
  CHECK(to_text(!(a < b)) == "!(a < b)");
  CHECK(to_text(-a * -3) == "-a * (-3)");
  CHECK(to_text((a & b) + (c << a)) == "(a & b) + (c << a)");
  CHECK(to_text(if_then_else(a < b, a, b) + 1) == "(a < b ? a : b) + 1");
  CHECK(to_text(select(a < b, a, b)) == "select(a < b, a, b)");
}

TEST_CASE("constants show their type unless it is the index type") {
  CHECK(to_text(Expr(7)) == "7");
  CHECK(to_text(constant(DType::u8, std::int64_t{7})) == "7u8");
  CHECK(to_text(constant(DType::u64, std::int64_t{-1})) == "18446744073709551615u64");
  CHECK(to_text(Expr(1.5f)) == "1.5f");
  CHECK(to_text(Expr(0.1)) == "0.1");
  CHECK(to_text(Expr(3.0)) == "3.0");
  CHECK(to_text(constant(DType::f16, 0.1)) == "0.099975586f16");
  CHECK(to_text(constant(DType::f32, -1.0 / 0.0)) == "f32(-inf)");
  CHECK(to_text(Expr(1) < 2) == "true");
}

TEST_CASE("calls print the name of their callee, and a bitcast its type") {
  const Expr x = Var::make("x", Type(DType::f32));
  CHECK(to_text(Call::make(x.type(), MathFunction::rsqrt, {x})) == "rsqrt(x)");
  CHECK(to_text(Call::make(x.type(), Callee::external("my_function"), {x})) == "my_function(x)");
  CHECK(to_text(Call::make(x.type(), Callee::intrinsic("mylog"), {x})) == "mylog(x)");
  CHECK(to_text(Call::make(x.type(), CallOp::scale, {x, x})) == "scale(x, x)");
  CHECK(to_text(Call::make(Type(DType::u32), CallOp::bitcast, {x})) == "bitcast_u32(x)");
}

TEST_CASE("an allocation prints the attributes of its storage") {
  Buffer storage = *buffer("S", DType::f32, {8}, Scope::shared);
  storage.storage.swizzled = true;
  storage.storage.filled_asynchronously = true;
  const BufferRef made = std::make_shared<Buffer>(storage);
  const std::string text = to_text(Allocate::make(made, Store::make(made, {0}, Expr(1.0f))));
  CHECK(text.find("shared f32 S[8] swizzled filled_asynchronously;") == 0);
}

TEST_CASE("vectors print as ramp, xN and where") {
  const Expr i = Var::make("i"), n = Var::make("n");
  const BufferRef a = buffer("A", DType::f32, {n});
  const Expr index = Ramp::make(i * 8, 1, 8);
  CHECK(to_text(Load::make(a, {index}, index < Broadcast::make(n, 8))) ==
        "where(ramp(i * 8, 1, 8) < x8(n), A[ramp(i * 8, 1, 8)])");
  CHECK(to_text(VectorReduce::make(ReduceOp::sum, Load::make(a, {index}))) == "reduce_sum(A[ramp(i * 8, 1, 8)])");
  CHECK(to_text(cast(DType::f64, Load::make(a, {index}))) == "f64x8(A[ramp(i * 8, 1, 8)])");
}

TEST_CASE("two variables of one name are told apart by a number") {
  const Expr first = Var::make("i"), second = Var::make("i");
  CHECK(to_text(first + second * first) == "i + i_1 * i");
}

TEST_CASE("a name is free again once its loop has ended") {
  const BufferRef a = buffer("A", DType::f32, {8});
  const auto loop = [&](const char* name, const std::function<Stmt(Expr)>& body) {
    const Expr var = Var::make(name);
    return For::make(var, 0, 8, ForKind::serial, body(var));
  };
  const auto store = [&](const Expr& i) { return Store::make(a, {i}, Expr(1.0f)); };
  const std::string text =
      to_text(Block::make({loop("i", store), loop("i", [&](const Expr&) { return loop("i", store); })}));
  CHECK(text ==
        "for (i = 0; i < 8; ++i) {\n"
        "  A[i] = 1.0f;\n"
        "}\n"
        "for (i = 0; i < 8; ++i) {\n"
        "  for (i_1 = 0; i_1 < 8; ++i_1) {\n"
        "    A[i_1] = 1.0f;\n"
        "  }\n"
        "}\n");
}

TEST_CASE("a loop whose extent is a difference runs up to its end") {
  const Expr i = Var::make("i"), n = Var::make("n");
  const BufferRef a = buffer("A", DType::f32, {n});
  const Stmt body = Store::make(a, {i}, Expr(1.0f));
  CHECK(to_text(For::make(i, n / 8, n - n / 8, ForKind::serial, body)).starts_with("for (i = n / 8; i < n; ++i) {"));
}

TEST_CASE("sums and products of integers chain without parentheses") {
  const Expr a = Var::make("a"), b = Var::make("b"), c = Var::make("c");
  const Expr x = Var::make("x", DType::f32), y = Var::make("y", DType::f32), z = Var::make("z", DType::f32);
  CHECK(to_text(Binary::make(BinaryOp::add, a, Binary::make(BinaryOp::sub, b, c))) == "a + b - c");
  CHECK(to_text(Binary::make(BinaryOp::mul, a, Binary::make(BinaryOp::mul, b, c))) == "a * b * c");
  CHECK(to_text(Binary::make(BinaryOp::mul, a, Binary::make(BinaryOp::div, b, c))) == "a * (b / c)");
  CHECK(to_text(Binary::make(BinaryOp::add, x, Binary::make(BinaryOp::add, y, z))) == "x + (y + z)");
}

TEST_CASE("a single number prints like a variable") {
  const BufferRef s = buffer("S", DType::f32, {}, Scope::local);
  CHECK(to_text(Allocate::make(s, Store::make(s, {}, Load::make(s, {}) + 1.0f))) == "local f32 S;\nS += 1.0f;\n");
}

TEST_CASE("a reduction prints its ranges and condition") {
  const Expr k = Var::make("k"), n = Var::make("n");
  const BufferRef a = buffer("A", DType::f32, {n});
  const Expr sum = Reduce::make(make_reducer(ReduceOp::sum, DType::f32), {Load::make(a, {k})}, {{k, 0, n}}, k > 3);
  CHECK(to_text(sum) == "sum(A[k], k in 0:n, where k > 3)");
}

TEST_CASE("a function prints as loops a person can read") {
  const Expr m = Var::make("M"), n = Var::make("N"), k = Var::make("K");
  const BufferRef a = buffer("A", DType::f32, {m, k}), b = buffer("B", DType::f32, {k, n});
  const BufferRef c = buffer("C", DType::f32, {m, n}), t = buffer("T", DType::f32, {4}, Scope::local);
  const BufferRef g = buffer("G", DType::f32, {m}, Scope::global);
  const Expr i = Var::make("i"), j = Var::make("j"), r = Var::make("r"), x = Var::make("x");
  const Expr product = Load::make(a, {i, r}) * Load::make(b, {r, j});
  const Stmt update = Store::make(c, {i, j}, Load::make(c, {i, j}) + product);
  const Stmt body = For::make(
      i, 0, m, ForKind::parallel,
      For::make(
          j, 4, n, ForKind::serial,
          Block::make(
              {Allocate::make(t, Store::make(t, {Expr(0)}, Expr(1.0f))),
               LetStmt::make(x, i + j, If::make(x < 9, update, If::make(x > 20, Assert::make(x > 5, 0), update)))})));
  Function function;
  function.name = "mm";
  function.parameters = {{"A", ParameterKind::tensor, Direction::in, a, {}},
                         {"B", ParameterKind::tensor, Direction::in, b, {}},
                         {"C", ParameterKind::tensor, Direction::out, c, {}}};
  function.symbols = {m, k, n};
  function.requirements = {{m > 0, "M is positive"}};
  function.messages = {"x too small"};
  function.call_workspace = m * 4;
  function.body = Allocate::make(g, body, Expr(64), ir::WorkspaceKind::call);
  CHECK(to_text(function) == R"(mm(in f32 A[M, K], in f32 B[K, N], out f32 C[M, N]; i64 M, i64 K, i64 N) {
  require(M > 0, "M is positive");
  // call workspace: M * 4 bytes
  global f32 G[M];  // call workspace + 64
  parallel for (i = 0; i < M; ++i) {
    for (j = 4; j < 4 + N; ++j) {
      {
        local f32 T[4];
        T[0] = 1.0f;
      }
      i64 x = i + j;
      if (x < 9) {
        C[i, j] += A[i, r] * B[r, j];
      } else if (x > 20) {
        assert(x > 5, "x too small");
      } else {
        C[i, j] += A[i, r] * B[r, j];
      }
    }
  }
}
)");
}
