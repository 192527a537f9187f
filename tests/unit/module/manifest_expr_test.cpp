#include "module/manifest_expr.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>

namespace ferry {
namespace {

using Op = ManifestOp;
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

ManifestExpr n() { return manifest_symbol(0); }
ManifestExpr m() { return manifest_symbol(1); }
ManifestExpr c(std::int64_t value) { return manifest_constant(value); }
const std::vector<std::string> kNames{"n", "m"};

std::string text(const ManifestExpr& expr) { return to_text(expr, kNames); }

std::string refusal(const ManifestExpr& expr) {
  const std::int64_t symbols[] = {7, 3};
  const Status checked = check_manifest_expr(expr, 2);
  CHECK(checked.code() == ErrorCode::invalid_argument);
  CHECK(evaluate(expr, symbols).status().message() == checked.message());
  return checked.message();
}

TEST_CASE("malformed expressions are refused by the check and by the evaluation alike") {
  CHECK(refusal({}) == "expected an expression of 1 to 256 instructions, got 0");
  CHECK(refusal({{{Op::add, 0}}}) == "instruction 0 of an expression: add: expected 2 operands, got 0");
  CHECK(refusal({{{Op::constant, 1}, {Op::constant, 2}}}) ==
        "instruction 1 of an expression: expected exactly one result at the end, got 2");
  CHECK(refusal({{{Op::symbol, 2}}}) == "instruction 0 of an expression: expected a symbol below 2, got 2");
  CHECK(refusal({{{Op::symbol, -1}}}) == "instruction 0 of an expression: expected a symbol below 2, got -1");
  CHECK(refusal({{{static_cast<Op>(99), 0}}}) == "instruction 0 of an expression: expected a known operation, got 99");
  CHECK(refusal({{{Op::constant, 1}, {Op::logical_not, 5}}}) ==
        "instruction 1 of an expression: logical_not: expected value 0, got 5");
  ManifestExpr deep;
  for (int i = 0; i < 33; ++i) deep.code.push_back({Op::constant, 1});
  for (int i = 0; i < 32; ++i) deep.code.push_back({Op::add, 0});
  CHECK(refusal(deep) == "instruction 32 of an expression: expected a stack of at most 32 values");
  ManifestExpr wide = c(0);
  for (int i = 0; i < 128; ++i) wide = manifest_apply(Op::add, {wide, c(1)});
  CHECK(refusal(wide) == "expected an expression of 1 to 256 instructions, got 257");
}

TEST_CASE("a stack of exactly the limit is fine") {
  ManifestExpr deep;
  for (int i = 0; i < 32; ++i) deep.code.push_back({Op::constant, 1});
  for (int i = 0; i < 31; ++i) deep.code.push_back({Op::add, 0});
  CHECK(evaluate(deep, {}).value() == 32);
}

TEST_CASE("overflow and division by zero have no result") {
  const auto reason = [](const ManifestExpr& expr) { return evaluate(expr, {}).status().message(); };
  const std::string overflow = "a result does not fit into 64 bits";
  CHECK(reason(manifest_apply(Op::add, {c(kMax), c(1)})) == overflow);
  CHECK(reason(manifest_apply(Op::sub, {c(kMin), c(1)})) == overflow);
  CHECK(reason(manifest_apply(Op::mul, {c(std::int64_t{1} << 40), c(std::int64_t{1} << 40)})) == overflow);
  CHECK(reason(manifest_apply(Op::floordiv, {c(kMin), c(-1)})) == overflow);
  CHECK(reason(manifest_apply(Op::floordiv, {c(1), c(0)})) == "division by zero");
  CHECK(reason(manifest_apply(Op::floormod, {c(1), c(0)})) == "division by zero");
  CHECK(evaluate(manifest_apply(Op::floormod, {c(kMin), c(-1)}), {}).value() == 0);
}

TEST_CASE("an expression is written as a person would write it") {
  CHECK(text(manifest_apply(Op::mul, {manifest_apply(Op::add, {n(), c(1)}), c(4)})) == "(n + 1) * 4");
  CHECK(text(manifest_apply(Op::add, {n(), manifest_apply(Op::mul, {m(), c(4)})})) == "n + m * 4");
  CHECK(text(manifest_apply(Op::sub, {n(), manifest_apply(Op::sub, {m(), c(4)})})) == "n - (m - 4)");
  CHECK(text(manifest_apply(Op::sub, {manifest_apply(Op::sub, {n(), m()}), c(-4)})) == "n - m - -4");
  CHECK(text(manifest_apply(Op::floordiv, {n(), manifest_apply(Op::mul, {m(), c(2)})})) == "n / (m * 2)");
  CHECK(text(manifest_apply(Op::eq, {manifest_apply(Op::floormod, {n(), m()}), c(0)})) == "n % m == 0");
  CHECK(text(manifest_apply(Op::min, {n(), manifest_apply(Op::max, {m(), c(1)})})) == "min(n, max(m, 1))");
  CHECK(text(manifest_apply(Op::select, {manifest_apply(Op::lt, {n(), m()}), n(), m()})) == "select(n < m, n, m)");
  CHECK(text(manifest_apply(Op::logical_not, {manifest_apply(Op::logical_or, {n(), m()})})) == "!(n || m)");
  CHECK(text(manifest_apply(Op::logical_and, {manifest_apply(Op::logical_or, {n(), m()}),
                                              manifest_apply(Op::logical_and, {n(), m()})})) == "(n || m) && (n && m)");
  CHECK(text({{{Op::symbol, 5}}}) == "<malformed expression>");
}

// An independent implementation of the same semantics: a tree over 128-bit numbers.
struct Tree {
  Op op = Op::constant;
  std::int64_t value = 0;
  std::vector<Tree> operands;
};
using Wide = __int128;

std::optional<Wide> fits(Wide value) {
  if (value < kMin || value > kMax) return std::nullopt;
  return value;
}

Wide floor_divide(Wide a, Wide b) {
  Wide quotient = a / b;
  while (quotient * b != a && (a < 0) != (b < 0) && quotient * b * (b < 0 ? -1 : 1) > a * (b < 0 ? -1 : 1)) --quotient;
  return quotient;
}

std::optional<Wide> naive(const Tree& tree, std::span<const std::int64_t> symbols) {
  std::vector<Wide> v;
  for (const Tree& operand : tree.operands) {
    const std::optional<Wide> value = naive(operand, symbols);
    if (!value) return std::nullopt;
    v.push_back(*value);
  }
  switch (tree.op) {
    case Op::constant: return tree.value;
    case Op::symbol: return symbols[static_cast<std::size_t>(tree.value)];
    case Op::add: return fits(v[0] + v[1]);
    case Op::sub: return fits(v[0] - v[1]);
    case Op::mul: return fits(v[0] * v[1]);
    case Op::floordiv: return v[1] == 0 ? std::nullopt : fits(floor_divide(v[0], v[1]));
    case Op::floormod: return v[1] == 0 ? std::nullopt : fits(v[0] - floor_divide(v[0], v[1]) * v[1]);
    case Op::min: return v[0] < v[1] ? v[0] : v[1];
    case Op::max: return v[0] > v[1] ? v[0] : v[1];
    case Op::eq: return v[0] == v[1];
    case Op::ne: return v[0] != v[1];
    case Op::lt: return v[0] < v[1];
    case Op::le: return v[0] <= v[1];
    case Op::logical_and: return v[0] != 0 && v[1] != 0;
    case Op::logical_or: return v[0] != 0 || v[1] != 0;
    case Op::logical_not: return v[0] == 0;
    case Op::select: return v[0] != 0 ? v[1] : v[2];
  }
  return std::nullopt;
}

Tree random_tree(std::mt19937_64& random, int depth) {
  static constexpr std::int64_t kInteresting[] = {0,    1,    -1,   2,        -2,         3,        -7,
                                                  kMin, kMax, 1000, 1u << 31, -(1 << 20), kMin + 1, kMax - 1};
  if (depth == 0 || random() % 4 == 0) {
    if (random() % 2 == 0) return {Op::symbol, static_cast<std::int64_t>(random() % 3), {}};
    return {Op::constant, kInteresting[random() % std::size(kInteresting)], {}};
  }
  Tree tree;
  tree.op = static_cast<Op>(3 + random() % 15);
  for (int i = 0; i < manifest_arity(tree.op); ++i) tree.operands.push_back(random_tree(random, depth - 1));
  return tree;
}

void to_postfix(const Tree& tree, ManifestExpr& expr) {
  for (const Tree& operand : tree.operands) to_postfix(operand, expr);
  expr.code.push_back({tree.op, tree.value});
}

TEST_CASE("random expressions have the value that 128-bit arithmetic gives, or none where it leaves 64 bits") {
  std::mt19937_64 random(11);
  int with_value = 0;
  for (int round = 0; round < 50000; ++round) {
    const Tree tree = random_tree(random, 4);
    ManifestExpr expr;
    to_postfix(tree, expr);
    const std::int64_t symbols[] = {static_cast<std::int64_t>(random() % 100), static_cast<std::int64_t>(random()), -3};
    const std::optional<Wide> expected = naive(tree, symbols);
    const Result<std::int64_t> got = evaluate(expr, symbols);
    const bool same = expected ? got.is_ok() && got.value() == *expected : !got.is_ok();
    if (!same) {
      CAPTURE(to_text(expr, std::vector<std::string>{"a", "b", "c"}));
      CAPTURE(got.status().message());
      CHECK(same);
    }
    with_value += expected ? 1 : 0;
  }
  CHECK(with_value > 10000);
}

TEST_CASE("random code is never evaluated where the check refuses it") {
  std::mt19937_64 random(12);
  const std::int64_t symbols[] = {5, 6};
  for (int round = 0; round < 50000; ++round) {
    ManifestExpr expr;
    for (std::size_t i = random() % 12; i > 0; --i) {
      const auto op = static_cast<Op>(random() % 19);
      expr.code.push_back({op, op <= Op::symbol ? static_cast<std::int64_t>(random() % 3) : 0});
    }
    const bool well_formed = check_manifest_expr(expr, 2).is_ok();
    if (!well_formed) CHECK_FALSE(evaluate(expr, symbols).is_ok());
    if (well_formed) CHECK_FALSE(to_text(expr, kNames).empty());
  }
}

}  // namespace
}  // namespace ferry
