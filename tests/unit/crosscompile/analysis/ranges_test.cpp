#include "crosscompile/analysis/ranges.h"

#include "crosscompile/ir/interpreter.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <vector>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;

namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                       kMost = std::numeric_limits<std::int64_t>::max();

bool is(const ValueRange& range, std::int64_t min, std::int64_t max) { return range.min == min && range.max == max; }

// Evaluates the expression over x in the interpreter.
std::vector<std::int64_t> values(const Expr& expr, const Expr& x, std::int64_t first, std::int64_t last) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = "out";
  buffer->dtype = DType::i64;
  buffer->shape = {Expr(last - first + 1)};
  Function function;
  function.name = "f";
  function.parameters.push_back({"out", ParameterKind::tensor, Direction::out, buffer, {}});
  function.body = For::make(x, Expr(first), Expr(last - first + 1), ForKind::serial,
                            Store::make(buffer, {x - first}, cast(DType::i64, expr)));
  std::vector<std::int64_t> result(static_cast<std::size_t>(last - first + 1));
  void* arguments[] = {result.data()};
  REQUIRE(interpret(function, arguments) == 0);
  return result;
}

}  // namespace

TEST_CASE("no value of an expression lies outside of its range") {
  const Expr x = Var::make("x");
  const auto narrow = [&](DType type) { return cast(type, x); };
  for (const auto& [first, last] :
       {std::pair<std::int64_t, std::int64_t>{0, 0}, {0, 13}, {-5, 4}, {-300, -290}, {100, 140}})
    for (const Expr& expr : {x + 3,
                             5 - x,
                             x * -3,
                             x * x,
                             x / 3,
                             x % 7,
                             x % (x + 1),
                             7 / x,
                             min(x, 2),
                             max(x, 2),
                             x & 12,
                             x >> 1,
                             x << 2,
                             x ^ 5,
                             select(x < 3, x, Expr(100)),
                             cast(DType::i64, narrow(DType::i8)),
                             cast(DType::i64, narrow(DType::u8) + 1),
                             cast(DType::i64, narrow(DType::i8) * narrow(DType::i8)),
                             cast(DType::i64, x < 2),
                             cast(DType::i64, narrow(DType::u16) % 10)}) {
      const ValueRange range = range_of({{x.get(), {first, last}}}, expr);
      for (const std::int64_t value : values(expr, x, first, last)) {
        CHECK(range.min <= value);
        CHECK(range.max >= value);
      }
    }
}

TEST_CASE("sums, products, quotients and remainders of known ranges are tight") {
  const Expr x = Var::make("x");
  const ValueRanges known{{x.get(), {-2, 9}}};
  CHECK(is(range_of(known, x + 3), 1, 12));
  CHECK(is(range_of(known, x * -2), -18, 4));
  CHECK(is(range_of(known, max(x, 0) / 3), 0, 3));
  CHECK(is(range_of(known, x % 4), 0, 3));
  CHECK(is(range_of(known, Ramp::make(x, Expr(2), 4)), -2, 15));
  CHECK(is(range_of(known, Broadcast::make(x, 4)), -2, 9));
}

TEST_CASE("what could wrap is as wide as its type") {
  const Expr x = Var::make("x"), small = Var::make("small", DType::i8);
  CHECK(is(range_of({{x.get(), {0, kMost}}}, x + 1), kLeast, kMost));
  CHECK(is(range_of({{small.get(), {100, 120}}}, small + small), -128, 127));
  CHECK(is(range_of({{small.get(), {10, 20}}}, small + small), 20, 40));
  CHECK(is(range_of({{x.get(), {0, 300}}}, cast(DType::u8, x)), 0, 255));
}

TEST_CASE("variables without a range, floats and u64 are unknown") {
  CHECK(is(range_of({}, Var::make("x")), kLeast, kMost));
  CHECK(is(range_of({}, Var::make("x", DType::u16)), 0, 65535));
  CHECK(is(range_of({}, Var::make("x", DType::u64)), kLeast, kMost));
  CHECK(is(range_of({}, Var::make("x", DType::f32)), kLeast, kMost));
}

TEST_CASE("a loop's variable stays below its end, and an unknown end does not overflow") {
  const Expr min = Var::make("min"), extent = Var::make("extent"), i = Var::make("i");
  const Stmt body = Evaluate::make(Call::make(Type(DType::i32), Callee::external("f"), {}));
  const Stmt loop = For::make(i, min, extent, ForKind::serial, body);
  const auto range = [&](const ValueRange& of_min, const ValueRange& of_extent) {
    return range_of_loop({{min.get(), of_min}, {extent.get(), of_extent}}, *loop.as<For>());
  };
  CHECK(is(range({3, 3}, {5, 5}), 3, 7));
  CHECK(is(range({0, 4}, {0, 10}), 0, 13));
  CHECK(range({0, 0}, {}).min == 0);
  CHECK(range({0, 0}, {}).max == kMaxIterations - 1);
  CHECK(range({kMost, kMost}, {1, 5}).max == kMost);
}
