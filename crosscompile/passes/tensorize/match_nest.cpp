#include "crosscompile/passes/tensorize/match_nest.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <numeric>

namespace ferry::passes {
namespace {

using namespace ir;

// A buffer with indices, from a load or a store.
struct Access {
  BufferRef buffer;
  std::vector<Expr> indices;
};
struct Pair {
  Access pattern, nest;
};
using Pairs = std::vector<Pair>;

std::string expected_got(const Expr& expected, const Expr& got) {
  return "expected '" + to_text(expected) + "', got '" + to_text(got) + "'";
}

// Finds all ways in which the two expressions are equal up to their buffers. `mismatch` describes the first difference.
class Unifier {
 public:
  explicit Unifier(std::string& mismatch) : mismatch_(mismatch) {}

  std::vector<Pairs> unify(const Expr& pattern, const Expr& nest) {
    std::vector<Pairs> found;
    if (pattern.type() == nest.type() && pattern.kind() == nest.kind()) found = inside(pattern, nest);
    if (found.empty() && mismatch_.empty()) mismatch_ = expected_got(pattern, nest);
    return found;
  }

 private:
  std::vector<Pairs> inside(const Expr& pattern, const Expr& nest) {
    if (const auto* load = pattern.as<Load>()) {
      const auto* other = nest.as<Load>();
      if (load->mask.defined() || other->mask.defined()) return {};
      return {{{{load->buffer, load->indices}, {other->buffer, other->indices}}}};
    }
    if (const auto* cast = pattern.as<Cast>()) return unify(cast->value, nest.as<Cast>()->value);
    if (const auto* unary = pattern.as<Unary>()) {
      const auto* other = nest.as<Unary>();
      return unary->op == other->op ? unify(unary->value, other->value) : std::vector<Pairs>{};
    }
    if (const auto* call = pattern.as<Call>()) {
      const auto* other = nest.as<Call>();
      return call->callee == other->callee ? unify_all(call->arguments, other->arguments) : std::vector<Pairs>{};
    }
    if (const auto* binary = pattern.as<Binary>()) {
      const auto* other = nest.as<Binary>();
      if (binary->op != other->op) return {};
      std::vector<Pairs> found = unify_all({binary->left, binary->right}, {other->left, other->right});
      const BinaryOp op = binary->op;
      if (op == BinaryOp::add || op == BinaryOp::mul || op == BinaryOp::min || op == BinaryOp::max) {
        std::vector<Pairs> swapped = unify_all({binary->left, binary->right}, {other->right, other->left});
        found.insert(found.end(), swapped.begin(), swapped.end());
      }
      return found;
    }
    return equal(pattern, nest) ? std::vector<Pairs>{{}} : std::vector<Pairs>{};
  }

  std::vector<Pairs> unify_all(const std::vector<Expr>& pattern, const std::vector<Expr>& nest) {
    std::vector<Pairs> found{{}};
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      std::vector<Pairs> longer;
      for (const Pairs& next : unify(pattern[i], nest.at(i))) {
        for (Pairs pairs : found) {
          pairs.insert(pairs.end(), next.begin(), next.end());
          longer.push_back(std::move(pairs));
        }
      }
      found = std::move(longer);
    }
    return found;
  }

  std::string& mismatch_;
};

bool same_strides(const AffineAccess& a, const AffineAccess& b) {
  return std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(),
                    [](const Expr& x, const Expr& y) { return can_prove(x == y); });
}

// Returns whether another use of an operand has the same offset from the first use as in the pattern.
bool stands_alike(const NestMatch::Operand& operand, const AffineAccess& expected, const AffineAccess& got) {
  return same_strides(operand.expected, expected) && same_strides(operand.got, got) &&
         can_prove(got.base - operand.got.base == expected.base - operand.expected.base);
}

// Turns the pairs, of which the last is the store, into operands; loop order[i] of the nest corresponds to the
// pattern's loop i.
std::optional<NestMatch> operands_of(const Function& pattern, const std::vector<LoopNest::Loop>& pattern_loops,
                                     const std::vector<LoopNest::Loop>& nest_loops, const Pairs& pairs,
                                     std::string& mismatch) {
  NestMatch match;
  match.symbols.resize(pattern.symbols.size());
  const BufferRef& written = pairs.back().nest.buffer;
  for (const FunctionParameter& parameter : pattern.parameters) {
    NestMatch::Operand operand{parameter.buffer, nullptr, {}, {}};
    for (const Pair& pair : pairs) {
      if (pair.pattern.buffer != parameter.buffer) continue;
      const auto expected = affine_access(pair.pattern.buffer, pair.pattern.indices, pattern_loops, mismatch);
      const auto got = affine_access(pair.nest.buffer, pair.nest.indices, nest_loops, mismatch);
      if (!expected || !got) return std::nullopt;
      if (operand.buffer == nullptr) {
        operand.buffer = pair.nest.buffer;
        operand.expected = *expected;
        operand.got = *got;
      } else if (operand.buffer != pair.nest.buffer || !stands_alike(operand, *expected, *got)) {
        mismatch = "expected the same elements of '" + operand.buffer->name + "' wherever '" + parameter.name +
                   "' of '" + pattern.name + "' is used, got others of '" + pair.nest.buffer->name + "' too";
        return std::nullopt;
      }
    }
    for (const NestMatch::Operand& other : match.operands) {
      if (operand.buffer != written || other.buffer != written) continue;
      mismatch = "expected '" + operand.buffer->name + "', which is written, in the place of one parameter of '" +
                 pattern.name + "', got it twice";
      return std::nullopt;
    }
    match.operands.push_back(std::move(operand));
  }
  return match;
}

}  // namespace

std::optional<LoopNest> as_nest(const Stmt& stmt) {
  LoopNest nest;
  nest.store = stmt;
  while (true) {
    if (const auto* loop = nest.store.as<For>()) {
      const std::int64_t* extent = as_int(loop->extent);
      if (extent == nullptr || !is_constant(loop->min, 0)) return std::nullopt;
      nest.loops.push_back({loop->var, *extent});
      nest.store = Stmt(loop->body);
    } else if (const auto* branch = nest.store.as<If>()) {
      if (branch->on_false.defined()) return std::nullopt;
      nest.conditions.push_back(branch->condition);
      nest.store = Stmt(branch->on_true);
    } else {
      if (nest.store.as<Store>() == nullptr) return std::nullopt;
      return nest;
    }
  }
}

std::optional<AffineAccess> affine_access(const BufferRef& buffer, const std::vector<Expr>& indices,
                                          const std::vector<LoopNest::Loop>& loops, std::string& mismatch) {
  std::vector<Expr> facts;
  for (const LoopNest::Loop& loop : loops) {
    facts.push_back(loop.var >= Expr(0));
    facts.push_back(loop.var < Expr(loop.extent));
  }
  AffineAccess result{Expr(0), std::vector<Expr>(loops.size(), Expr(0))};
  Expr stride = 1;
  for (std::size_t d = indices.size(); d-- > 0;) {
    if (!buffer->strides.empty()) stride = buffer->strides[d];
    Expr rest = simplify(indices[d], facts);
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const auto affine = analysis::affine_in(rest, loops[i].var);
      if (!affine) {
        mismatch = "expected an index of '" + buffer->name + "' that moves evenly along '" + to_text(loops[i].var) +
                   "', got '" + to_text(rest) + "'";
        return std::nullopt;
      }
      result.strides[i] = result.strides[i] + Expr(affine->coefficient) * stride;
      rest = affine->rest;
    }
    result.base = result.base + rest * stride;
    if (buffer->strides.empty()) stride = stride * buffer->shape[d];
  }
  result.base = simplify(result.base);
  for (Expr& each : result.strides) each = simplify(each);
  return result;
}

std::optional<NestMatch> match_nest(const Function& pattern, const LoopNest& nest, const MatchCheck& check,
                                    std::string& mismatch) {
  const LoopNest expected = *as_nest(pattern.body);
  mismatch.clear();
  for (const Expr& condition : nest.conditions) {
    for (const LoopNest::Loop& loop : nest.loops) {
      if (!uses_var(condition, loop.var)) continue;
      mismatch = "expected every iteration of '" + to_text(loop.var) + "' to count, got the condition '" +
                 to_text(condition) + "'; split what its axis was by a number that divides it";
      return std::nullopt;
    }
  }
  const auto extents = [](const LoopNest& of) {
    std::string text;
    for (const LoopNest::Loop& loop : of.loops)
      text += (text.empty() ? "" : ", ") + to_text(loop.var) + " in " + std::to_string(loop.extent);
    return "loops (" + text + ")";
  };
  const auto& want = *expected.store.as<Store>();
  const auto& have = *nest.store.as<Store>();
  std::vector<Pairs> alternatives;
  if (want.value.type() == have.value.type()) {
    alternatives = Unifier(mismatch).unify(want.value, have.value);
  } else {
    mismatch = expected_got(want.value, have.value);
  }
  // Differences found in only some alternatives are not worth reporting.
  if (!alternatives.empty()) mismatch.clear();
  std::string nearest;
  for (Pairs& pairs : alternatives) {
    pairs.push_back({{want.buffer, want.indices}, {have.buffer, have.indices}});
    std::vector<std::size_t> order(nest.loops.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    do {
      std::vector<LoopNest::Loop> loops;
      for (const std::size_t i : order) loops.push_back(nest.loops[i]);
      const bool fits = std::equal(loops.begin(), loops.end(), expected.loops.begin(), expected.loops.end(),
                                   [](const auto& a, const auto& b) { return a.extent == b.extent; });
      std::string difference;
      if (!fits) {
        difference = "expected " + extents(expected) + ", got " + extents(nest);
      } else if (auto match = operands_of(pattern, expected.loops, loops, pairs, difference)) {
        match->conditions = nest.conditions;
        difference = check(*match);
        if (difference.empty()) return match;
        // No later difference is nearer, and the first one has the loops in their original order.
        if (nearest.empty()) nearest = difference;
      }
      if (mismatch.empty()) mismatch = difference;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  if (!nearest.empty()) mismatch = nearest;
  return std::nullopt;
}

std::string check_strides(const Function& pattern, NestMatch& match) {
  const LoopNest expected = *as_nest(pattern.body);
  // The first stride that is exactly a symbol determines its value; other strides may be multiples of it.
  Substitution symbols;
  for (const NestMatch::Operand& operand : match.operands) {
    for (std::size_t i = 0; i < operand.got.strides.size(); ++i) {
      for (std::size_t s = 0; s < pattern.symbols.size(); ++s) {
        if (!pattern.symbols[s].same_as(operand.expected.strides[i])) continue;
        if (!match.symbols[s].defined()) match.symbols[s] = operand.got.strides[i];
        symbols[pattern.symbols[s].get()] = match.symbols[s];
      }
    }
  }
  for (const NestMatch::Operand& operand : match.operands) {
    for (std::size_t i = 0; i < operand.got.strides.size(); ++i) {
      const Expr& got = operand.got.strides[i];
      const Expr want = substitute(operand.expected.strides[i], symbols);
      if (can_prove(want == got)) continue;
      return "expected the elements of '" + operand.buffer->name + "' to be " + to_text(want) + " apart along '" +
             to_text(expected.loops[i].var) + "' of '" + pattern.name + "', got " + to_text(got);
    }
  }
  return "";
}

}  // namespace ferry::passes
