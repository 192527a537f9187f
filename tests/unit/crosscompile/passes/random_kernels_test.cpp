#include "tests/unit/crosscompile/passes/standard_kernels.h"

#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/loops/partition_loops.h"
#include "crosscompile/passes/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// Two-dimensional programs of every form that lowering generates, and of some that it does not: axes that are split or
// not, loops of every kind in any order, values guarded by random conditions, stored directly or through accumulators.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {}

  Function make() {
    n_ = kernel_.size("n");
    m_ = kernel_.size("m");
    const DType dtype = pick<DType>({DType::i32, DType::f32, DType::i8, DType::f64, DType::f16});
    zero_ = constant(Type(dtype), std::int64_t{0});
    a_ = kernel_.input("a", dtype, {n_, m_});
    out_ = kernel_.output("out", dtype, {n_, m_});
    split("i", n_, i_);
    split("j", m_, j_);
    std::shuffle(loops_.begin(), loops_.end(), random_);
    // A split's outer loop need not be outside its inner one, but parallel and vectorized loops have fixed positions.
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (loops_[l].kind == kParallel && l != 0) loops_[l].kind = ForKind::serial;
    }
    kernel_.function.body = chance(40) ? through_accumulator(dtype) : direct();
    return kernel_.function;
  }

 private:
  struct Loop {
    Expr var, extent;
    ForKind kind;
  };

  int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint32_t>(bound)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(std::vector<T> from) {
    return from[static_cast<std::size_t>(below(static_cast<int>(from.size())))];
  }

  void split(const std::string& name, const Expr& extent, Expr& value) {
    if (chance(25)) {
      loops_.push_back({index(name), extent, pick<ForKind>({ForKind::serial, kParallel})});
      value = loops_.back().var;
      return;
    }
    const Expr factor(std::int64_t{pick<int>({1, 2, 3, 4, 5, 8})});
    const Expr outer = index(name + "o"), inner = index(name + "i");
    loops_.push_back({outer, ceil_div(extent, factor), pick<ForKind>({ForKind::serial, ForKind::serial, kParallel})});
    loops_.push_back({inner, factor, pick<ForKind>({ForKind::serial, kVectorized, kVectorized, kUnrolled})});
    value = outer * factor + inner;
    guards_.push_back(value < extent);
  }

  Expr affine(const std::vector<Expr>& vars) {
    Expr sum = below(9) - 4;
    for (const Expr& var : vars) {
      if (chance(60)) sum = sum + var * Expr(pick<int>({-2, -1, 1, 1, 2}));
    }
    if (chance(40)) sum = sum + (chance(50) ? n_ : m_) * Expr(pick<int>({-1, 1}));
    return sum;
  }

  Expr comparison(const std::vector<Expr>& vars) {
    const Expr left = affine(vars), right = affine(vars);
    switch (below(6)) {
      case 0: return left < right;
      case 1: return left <= right;
      case 2: return left > right;
      case 3: return left >= right;
      case 4: return left == right;
      default: return left != right;
    }
  }

  Expr condition(const std::vector<Expr>& vars, int depth) {
    if (depth == 0 || chance(40)) return comparison(vars);
    if (chance(15)) return !condition(vars, depth - 1);
    const Expr left = condition(vars, depth - 1), right = condition(vars, depth - 1);
    return chance(60) ? left && right : left || right;
  }

  // Reads an element near (i, j), guarded by a bounds check in one of the usual forms.
  Expr neighbour(const std::vector<Expr>& more) {
    Expr y = i_ + Expr(below(5) - 2), x = j_ + Expr(below(5) - 2);
    for (const Expr& var : more) (chance(50) ? y : x) = (chance(50) ? y : x) + var;
    const Expr there = y >= 0 && y < n_ && x >= 0 && x < m_;
    const Expr element = at(a_, {y, x});
    if (chance(30)) return if_then_else(y < 0 || y >= n_ || x < 0 || x > m_ - 1, zero_, element);
    std::vector<Expr> vars{i_, j_};
    vars.insert(vars.end(), more.begin(), more.end());
    if (chance(40)) return if_then_else(there && condition(vars, 2), element, zero_ + zero_);
    return if_then_else(there, element, zero_);
  }

  Expr value(const std::vector<Expr>& more) {
    std::vector<Expr> vars{i_, j_};
    vars.insert(vars.end(), more.begin(), more.end());
    Expr sum = neighbour(more);
    if (chance(40)) sum = sum + neighbour(more);
    if (chance(30)) sum = select(condition(vars, 2), sum, at(a_, {i_, j_}));
    if (chance(30)) sum = sum - cast(out_->dtype, i_ - j_);
    return sum;
  }

  Stmt guarded(Stmt body) {
    if (guards_.empty()) return body;
    Expr all = guards_[0];
    for (std::size_t g = 1; g < guards_.size(); ++g) all = all && guards_[g];
    return If::make(all, std::move(body));
  }

  static Stmt wrap(const std::vector<Loop>& loops, Stmt body) {
    for (std::size_t l = loops.size(); l-- > 0;)
      body = loop(loops[l].var, loops[l].extent, std::move(body), loops[l].kind);
    return body;
  }

  Stmt direct() {
    Stmt body = put(out_, {i_, j_}, value({}));
    if (chance(30)) {
      const Expr k = index("k");
      body = block({put(out_, {i_, j_}, zero_), loop(k, 3, put(out_, {i_, j_}, at(out_, {i_, j_}) + value({k})))});
    }
    if (chance(20)) {
      const BufferRef own = array("own", out_->dtype, {2});
      body = Allocate::make(
          own, block({put(own, {1}, value({})), body, put(out_, {i_, j_}, at(out_, {i_, j_}) + at(own, {1}))}));
    }
    if (chance(25)) body = If::make(condition({i_, j_}, 2), body, put(out_, {i_, j_}, zero_));
    if (chance(15)) {
      const Expr t = Var::make("t");
      body = LetStmt::make(
          t, i_ + j_, block({body, If::make(t > 3, put(out_, {i_, j_}, at(out_, {i_, j_}) + cast(out_->dtype, t)))}));
    }
    return wrap(loops_, guarded(body));
  }

  // Some loops outside, an accumulator filled by the inner loops of constant extent, and a reduction around those.
  Stmt through_accumulator(DType dtype) {
    std::stable_partition(loops_.begin(), loops_.end(), [](const Loop& l) { return as_int(l.extent) == nullptr; });
    std::vector<Loop> outside, inside;
    std::vector<Expr> shape, point;
    for (const Loop& l : loops_) (as_int(l.extent) == nullptr ? outside : inside).push_back(l);
    for (const Loop& l : inside) {
      shape.push_back(l.extent);
      point.push_back(l.var);
    }
    const BufferRef acc = array("acc", dtype, shape);
    const Expr k = index("k");
    const auto tile = [&](const Stmt& body) { return wrap(inside, body); };
    const Stmt update = guarded(put(acc, point, at(acc, point) + value({k})));
    const Stmt body = block({rename(inside, put(acc, point, zero_)), loop(k, 3, tile(update)),
                             rename(inside, guarded(put(out_, {i_, j_}, at(acc, point))))});
    return wrap(outside, Allocate::make(acc, body));
  }

  // Returns the same loops once more, with fresh variables.
  static Stmt rename(const std::vector<Loop>& loops, const Stmt& body) { return fresh_copy(wrap(loops, body)); }

  std::mt19937 random_;
  Kernel kernel_;
  Expr n_, m_, i_, j_, zero_;
  BufferRef a_, out_;
  std::vector<Loop> loops_;
  std::vector<Expr> guards_;
};

const std::vector<std::vector<std::int64_t>> kSizes{{1, 1}, {2, 3}, {5, 7}, {9, 8}, {8, 17}, {13, 5}};

void check_seeds(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    const Function program = RandomProgram(seed).make();
    for (const Target& target : {plain_target(), masked_target()}) {
      CAPTURE(target.capabilities.masks);
      run_pipeline(program, target, [&](std::string_view pass, const Function& after) {
        CAPTURE(pass);
        for (const auto& sizes : kSizes) check_same(program, after, sizes);
      });
    }
  }
}

}  // namespace

// FERRY_RANDOM_SEEDS=FIRST:COUNT runs other or more seeds.
TEST_CASE("no pass changes the result of random programs") {
  const char* chosen = std::getenv("FERRY_RANDOM_SEEDS");
  if (chosen == nullptr) return check_seeds(1, 40);
  char* end = nullptr;
  const auto first = static_cast<std::uint32_t>(std::strtoul(chosen, &end, 10));
  check_seeds(first, *end == ':' ? static_cast<std::uint32_t>(std::strtoul(end + 1, nullptr, 10)) : 1);
}
