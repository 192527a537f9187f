// Tests that simplification preserves the meaning of random expressions and loop nests.
#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "tests/unit/crosscompile/ir/harness.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <unordered_map>

using namespace ferry;
using namespace ferry::ir;

namespace {

using Values = std::unordered_map<const ExprNode*, std::int64_t>;

// Evaluates the expression by the rules of ferry/expr.h, which simplify must preserve.
std::int64_t evaluate(const Expr& expr, const Values& values, std::uint32_t lane = 0) {
  switch (expr.kind()) {
    case ExprKind::IntImm: return expr.as<IntImm>()->value;
    case ExprKind::Var: return values.at(expr.get());
    case ExprKind::Cast: return wrap(expr.type().code, evaluate(expr.as<Cast>()->value, values, lane));
    case ExprKind::Unary: {
      const auto* unary = expr.as<Unary>();
      const std::int64_t value = evaluate(unary->value, values, lane);
      if (unary->op == UnaryOp::logical_not) return value == 0;
      return apply_int(BinaryOp::sub, expr.type().code, unary->op == UnaryOp::neg ? 0 : -1, value);
    }
    case ExprKind::Binary: {
      const auto* binary = expr.as<Binary>();
      return apply_int(binary->op, binary->left.type().code, evaluate(binary->left, values, lane),
                       evaluate(binary->right, values, lane));
    }
    case ExprKind::Select: {
      const auto* choice = expr.as<Select>();
      return evaluate(evaluate(choice->condition, values, lane) != 0 ? choice->on_true : choice->on_false, values,
                      lane);
    }
    case ExprKind::IfThenElse: {
      const auto* choice = expr.as<IfThenElse>();
      return evaluate(evaluate(choice->condition, values, lane) != 0 ? choice->on_true : choice->on_false, values,
                      lane);
    }
    case ExprKind::Ramp: {
      const auto* ramp = expr.as<Ramp>();
      const std::int64_t offset = apply_int(BinaryOp::mul, DType::i64, lane, evaluate(ramp->stride, values));
      return apply_int(BinaryOp::add, DType::i64, evaluate(ramp->base, values), offset);
    }
    case ExprKind::Broadcast: return evaluate(expr.as<Broadcast>()->value, values);
    default: throw std::logic_error("the generator does not make this node");
  }
}

class Generator {
 public:
  Generator(std::uint64_t seed, std::vector<Expr> variables, bool large)
      : random_(seed), variables_(std::move(variables)), large_(large) {}

  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }

  Expr index(int depth) {
    if (depth == 0 || below(6) == 0) return leaf();
    switch (below(14)) {
      case 0:
      case 1: return Binary::make(BinaryOp::add, index(depth - 1), index(depth - 1));
      case 2: return Binary::make(BinaryOp::sub, index(depth - 1), index(depth - 1));
      case 3: return Binary::make(BinaryOp::mul, index(depth - 1), number());
      case 4: return Binary::make(BinaryOp::mul, index(depth - 1), index(depth - 1));
      case 5:
      case 6: return Binary::make(BinaryOp::div, index(depth - 1), number());
      case 7: return Binary::make(BinaryOp::mod, index(depth - 1), number());
      case 8: return Binary::make(below(2) == 0 ? BinaryOp::div : BinaryOp::mod, index(depth - 1), index(depth - 1));
      case 9: return Binary::make(BinaryOp::min, index(depth - 1), index(depth - 1));
      case 10: return Binary::make(BinaryOp::max, index(depth - 1), index(depth - 1));
      case 11: return Select::make(condition(depth - 1), index(depth - 1), index(depth - 1));
      case 12: return IfThenElse::make(condition(depth - 1), index(depth - 1), index(depth - 1));
      default:
        switch (below(5)) {
          case 0: return Unary::make(UnaryOp::neg, index(depth - 1));
          case 1: return Binary::make(BinaryOp::shr, index(depth - 1), Expr(below(4)));
          case 2: return Binary::make(BinaryOp::shl, index(depth - 1), Expr(below(4)));
          case 3: return Binary::make(BinaryOp::bit_and, index(depth - 1), number());
          default: return Cast::make(DType::i64, Cast::make(below(2) == 0 ? DType::i8 : DType::u16, index(depth - 1)));
        }
    }
  }

  Expr condition(int depth) {
    if (depth > 0 && below(4) == 0) {
      const Expr left = condition(depth - 1);
      if (below(4) == 0) return Unary::make(UnaryOp::logical_not, left);
      return Binary::make(below(2) == 0 ? BinaryOp::logical_and : BinaryOp::logical_or, left, condition(depth - 1));
    }
    const int op = static_cast<int>(BinaryOp::eq) + below(6);
    return Binary::make(static_cast<BinaryOp>(op), index(depth), index(depth));
  }

  Expr vector(int depth, std::uint32_t lanes) {
    if (depth == 0 || below(4) == 0) {
      return below(2) == 0 ? Ramp::make(index(1), below(2) == 0 ? Expr(below(4)) : leaf(), lanes)
                           : Broadcast::make(index(1), lanes);
    }
    constexpr BinaryOp kOps[] = {BinaryOp::add, BinaryOp::sub, BinaryOp::mul,
                                 BinaryOp::div, BinaryOp::mod, BinaryOp::min};
    const Expr left = vector(depth - 1, lanes);
    if (below(6) == 0) {
      const Expr right = vector(depth - 1, lanes);
      return Select::make(Binary::make(BinaryOp::lt, left, right), right, vector(depth - 1, lanes));
    }
    return Binary::make(kOps[below(6)], left,
                        below(2) == 0 ? Broadcast::make(number(), lanes) : vector(depth - 1, lanes));
  }

  // Returns an index as split, tiled and fused loops create it: sums, quotients and remainders by the same few factors.
  Expr affine(int depth) {
    constexpr int kFactors[] = {1, 2, 3, 4, 6, 8, 12};
    Expr sum = Expr(below(9) - 2);
    for (int terms = 1 + below(3); terms > 0; --terms) {
      Expr term = depth > 0 && below(3) == 0 ? affine(depth - 1) : variable();
      sum = Binary::make(below(5) == 0 ? BinaryOp::sub : BinaryOp::add, sum,
                         Binary::make(BinaryOp::mul, term, Expr(kFactors[below(7)])));
    }
    const Expr factor = Expr(kFactors[below(7)]);
    switch (below(5)) {
      case 0: return Binary::make(BinaryOp::div, sum, factor);
      case 1: return Binary::make(BinaryOp::mod, sum, factor);
      case 2:
        return Binary::make(BinaryOp::add,
                            Binary::make(BinaryOp::mul, Binary::make(BinaryOp::div, sum, factor), factor),
                            Binary::make(BinaryOp::mod, sum, factor));
      case 3: return Binary::make(below(2) == 0 ? BinaryOp::min : BinaryOp::max, sum, affine(0));
      default: return sum;
    }
  }

  Expr comparison() {
    const int op = static_cast<int>(BinaryOp::eq) + below(6);
    return Binary::make(static_cast<BinaryOp>(op), affine(2), affine(1));
  }

  Expr variable() { return variables_[static_cast<std::size_t>(below(static_cast<int>(variables_.size())))]; }

 private:
  Expr leaf() { return below(3) == 0 ? number() : variable(); }

  Expr number() {
    if (large_ && below(3) == 0) {
      constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
      constexpr std::int64_t kBases[] = {kLargest,     -kLargest - 1,   kLargest / 2,
                                         kLargest / 8, -(kLargest / 3), std::int64_t{1} << 40};
      const auto offset = static_cast<std::uint64_t>(below(7) - 3);
      return Expr(static_cast<std::int64_t>(static_cast<std::uint64_t>(kBases[below(6)]) + offset));
    }
    constexpr int kUsual[] = {-8, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 16, 12};
    return Expr(kUsual[below(14)]);
  }

  std::mt19937_64 random_;
  std::vector<Expr> variables_;
  bool large_;
};

// Variables with the points at which to compare, and the facts that hold at all of them.
struct Space {
  std::vector<Expr> variables, facts;
  std::vector<Values> points;
};

Space make_space(Generator& choose, bool large) {
  Space space;
  std::vector<std::vector<std::int64_t>> ranges;
  const char* names[] = {"a", "b", "n"};
  for (const char* name : names) {
    const Expr var = Var::make(name);
    std::int64_t low = choose.below(10) - 5;
    if (large && choose.below(3) == 0) {
      low = choose.below(2) == 0 ? std::numeric_limits<std::int64_t>::max() - 10
                                 : std::numeric_limits<std::int64_t>::min();
    }
    const int count = 1 + choose.below(9);
    std::vector<std::int64_t> range;
    for (int i = 0; i < count; ++i) range.push_back(low + i);
    // Sometimes only one bound or none is known, but only where the header's assumption holds.
    const int known = large ? 0 : choose.below(6);
    if (known != 1 && known != 3) space.facts.push_back(Binary::make(BinaryOp::ge, var, Expr(low)));
    if (known != 2 && known != 3) space.facts.push_back(Binary::make(BinaryOp::le, var, Expr(low + count - 1)));
    space.variables.push_back(var);
    ranges.push_back(std::move(range));
  }
  for (const std::int64_t a : ranges[0]) {
    for (const std::int64_t b : ranges[1]) {
      for (const std::int64_t n : ranges[2]) {
        space.points.push_back(
            {{space.variables[0].get(), a}, {space.variables[1].get(), b}, {space.variables[2].get(), n}});
      }
    }
  }
  return space;
}

void keep_points(Space& space, const Expr& fact) {
  std::vector<Values> kept;
  for (const Values& values : space.points) {
    if (evaluate(fact, values) != 0) kept.push_back(values);
  }
  if (kept.empty()) return;
  space.points = std::move(kept);
  space.facts.push_back(fact);
}

void check_same(const Expr& before, const Expr& after, const Space& space) {
  REQUIRE(after.type() == before.type());
  for (const Values& values : space.points) {
    for (std::uint32_t lane = 0; lane < before.type().lanes; ++lane) {
      const std::int64_t expected = evaluate(before, values, lane);
      const std::int64_t got = evaluate(after, values, lane);
      if (expected == got) continue;
      std::string message = "before: " + to_text(before) + "\nafter:  " + to_text(after) + "\nwhere";
      for (const Expr& var : space.variables)
        message += " " + to_text(var) + " = " + std::to_string(values.at(var.get()));
      message += "\nlane " + std::to_string(lane) + ": expected " + std::to_string(expected) + ", got " +
                 std::to_string(got) + "\nfacts:";
      for (const Expr& fact : space.facts) message += " " + to_text(fact) + ";";
      FAIL(message);
    }
  }
}

// FERRY_SIMPLIFY_ROUNDS=100000 runs more rounds.
int rounds(int usual) {
  const char* text = std::getenv("FERRY_SIMPLIFY_ROUNDS");
  return text == nullptr ? usual : std::atoi(text);
}

enum class Make { anything, vectors, schedules };

void compare_expressions(std::uint64_t seed_base, int count, bool large, Make what) {
  for (int round = 0; round < count; ++round) {
    Generator choose(seed_base + static_cast<std::uint64_t>(round), {Expr(0)}, large);
    Space space = make_space(choose, large);
    Generator make(seed_base * 7919 + static_cast<std::uint64_t>(round), space.variables, large);
    if (choose.below(3) == 0) keep_points(space, what == Make::schedules ? make.comparison() : make.condition(2));
    const bool condition = choose.below(3) == 0;
    const Expr before = what == Make::vectors     ? make.vector(3, 4)
                        : what == Make::schedules ? condition ? make.comparison() : make.affine(3)
                        : condition ? make.condition(4)
                                                  : make.index(5);
    INFO("round ", round, " of seed ", seed_base);
    const Expr after = passes::simplify(before, space.facts);
    check_same(before, after, space);
    if (before.type() == kBool && passes::can_prove(before, space.facts)) {
      for (const Values& values : space.points) REQUIRE(evaluate(before, values) == 1);
    }
  }
}

}  // namespace

TEST_CASE("random index expressions keep their value") { compare_expressions(1, rounds(5000), false, Make::anything); }
TEST_CASE("random index expressions near the ends of 64 bits keep their value") {
  compare_expressions(2, rounds(5000), true, Make::anything);
}
TEST_CASE("random expressions of schedules keep their value") {
  compare_expressions(5, rounds(5000), false, Make::schedules);
}
TEST_CASE("random vectors of indices keep their value") { compare_expressions(3, rounds(3000), false, Make::vectors); }
TEST_CASE("random vectors of indices near the ends of 64 bits keep their value") {
  compare_expressions(4, rounds(3000), true, Make::vectors);
}

TEST_CASE("random loop nests do the same") {
  for (int round = 0; round < rounds(1500); ++round) {
    const auto seed = static_cast<std::uint64_t>(round);
    Generator choose(seed * 31 + 5, {Expr(0)}, false);
    const Expr n = Var::make("n"), i = Var::make("i"), j = Var::make("j"), k = Var::make("k"), t = Var::make("t");
    Generator outer(seed * 3 + 1, {n}, false), inner(seed * 3 + 2, {n, i, j, k, t}, false);
    const BufferRef a = make_buffer("A", DType::i64, {Expr(64)});
    // Any index, reduced to the buffer's range.
    const auto store = [&] {
      return Store::make(a, {Binary::make(BinaryOp::mod, inner.index(3), Expr(64))},
                         inner.index(3) + Load::make(a, {inner.index(2) % 64}));
    };
    Stmt body = store();
    const int shape = choose.below(4);
    if (shape == 1) body = If::make(inner.condition(2), body, choose.below(2) == 0 ? store() : Stmt());
    if (shape == 2) body = If::make(inner.condition(2), If::make(inner.condition(2), body));
    if (shape == 3)
      body = Block::make({Assert::make(inner.condition(1), 0), body, If::make(inner.condition(2), store())});
    body = LetStmt::make(t, choose.below(2) == 0 ? i + j : Load::make(a, {i % 64}), body);
    body = For::make(k, outer.index(1), min(Expr(3), outer.index(1)), ForKind::serial, body);
    body = For::make(j, 0, choose.below(2) == 0 ? Expr(choose.below(4)) : min(n - i, 4), ForKind::serial, body);
    body = For::make(i, 0, n, ForKind::serial, body);
    std::vector<std::int64_t> before(64), after(64);
    for (std::size_t e = 0; e < 64; ++e) before[e] = after[e] = static_cast<std::int64_t>(e * e % 23) - 7;
    const std::int64_t size = choose.below(7);
    const auto run = [&](std::vector<std::int64_t>& data, bool simplified) {
      Harness h;
      h.tensor(a, data);
      h.symbol(n, size);
      h.function.messages = {"asserted"};
      // Use n as a size in the shape of another buffer.
      const BufferRef sized = make_buffer("S", DType::i64, {n});
      std::vector<std::int64_t> unused(8);
      h.tensor(sized, unused, Direction::in);
      h.function.body = body;
      if (simplified) h.function = passes::simplify(h.function);
      return h.run(h.function.body);
    };
    const std::int32_t expected = run(before, false);
    INFO("round ", round, ", n = ", size, "\n", to_text(body), "simplified:\n",
         to_text(passes::simplify(body, {n >= 0})));
    REQUIRE(run(after, true) == expected);
    REQUIRE(after == before);
  }
}
