#include "crosscompile/analysis/wrapping.h"

#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <limits>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;

namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 40;

const Expr n = Var::make("n"), i = Var::make("i"), q = Var::make("q");

bool is_data(const Expr& var) { return var.same_as(q); }
bool wraps(const Expr& expr) { return may_wrap(expr, is_data); }
bool inside(const Expr& expr) { return wraps_inside(expr, is_data); }

Expr element(DType type) {
  Buffer buffer;
  buffer.name = "A";
  buffer.dtype = type;
  buffer.shape = {n};
  return cast(DType::i64, Load::make(std::make_shared<Buffer>(buffer), {i}));
}

}  // namespace

TEST_CASE("sums of sizes and indices with small factors do not wrap") {
  for (const Expr& expr : {n, i * n + 5, (i * 4096 + n) * 4096, n * n * n - i, -(i * 7), (n + 7) / 8 * 8 - i,
                           min(n, i * 65536) % 3, Expr(kLarge) * 4096 + i, select(i < n, i + 1, n - 1) * 3}) {
    CHECK_FALSE(wraps(expr));
    CHECK_FALSE(inside(expr));
  }
}

TEST_CASE("large factors may wrap, wherever they come from") {
  for (const Expr& expr : {i * kLarge, Expr(kLarge) * (i + n), i * 1048576 * 1048576, (i << Expr(40)) + n,
                           i + std::numeric_limits<std::int64_t>::max(), i * n * kLarge, -(i * kLarge)})
    CHECK(wraps(expr));
}

TEST_CASE("data may wrap in sums and products, but not by itself") {
  for (const Expr& data : {q, element(DType::i64), element(DType::u64), element(DType::f32)}) {
    for (const Expr& expr : {data, min(data, n), max(min(data, n), 0) + i, data / 3, data % n})
      CHECK_FALSE(wraps(expr));
    for (const Expr& expr : {data + 1, i - data, data * 2, max(n, data) * 4, min(data, n) + i, (data / 3) * 3,
                             n % data + 1, select(i < n, data, n) - 1})
      CHECK(wraps(expr));
  }
  for (const DType narrow : {DType::i8, DType::u16, DType::i32, DType::u32}) CHECK_FALSE(wraps(element(narrow) * n));
  CHECK(wraps(element(DType::i32) * element(DType::i32) * n));
}

TEST_CASE("what wraps inside of a sum is no polynomial of its parts") {
  for (const Expr& expr : {i + q, i * kLarge, q * 3 - i}) CHECK_FALSE(inside(expr));
  for (const Expr& expr : {min(i + q, n), (i * kLarge) / 3 + 1, i - max(q + 1, 0), -((i + q) % n)}) CHECK(inside(expr));
}

TEST_CASE("a limited value compares with small ones as it did") {
  CHECK(equal(limited(n * 3, is_data), n * 3));
  CHECK(equal(limited(min(q, n), is_data), max(min(q, n), -(std::int64_t{1} << 61))));
  CHECK_FALSE(reach_of(n - limited(q, is_data) - 1, is_data).wraps);
}
