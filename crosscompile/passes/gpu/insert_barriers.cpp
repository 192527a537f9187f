#include "crosscompile/passes/gpu/insert_barriers.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/async_copy.h"
#include "crosscompile/ir/barrier.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/shuffle.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/gpu/thread_group.h"
#include "crosscompile/passes/simplify/simplify.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

// A variable and the only value that it has where a condition holds; nothing when there is no such variable.
struct Known {
  Expr var;
  std::int64_t value = 0;
};

// An access to an element of shared memory.
struct Access {
  const Buffer* buffer;
  const std::vector<Expr>* indices;
  const Store* store;  // null for a read
  Expr part;           // the first index, as long as it tells iterations apart (disjoint_parts)
  Known when = {};     // the access happens only in this iteration of a loop
};
using Accesses = std::vector<Access>;

// Loops that may be walked iteration by iteration, with their first values and trip counts.
struct ShortLoop {
  std::int64_t first = 0, iterations = 0;
};
using ShortLoops = std::unordered_map<const ExprNode*, ShortLoop>;
constexpr std::int64_t kMostWalks = 8;

// Recognises "k < 1" and "k == 0" for a short loop that begins at 0.
Known known_by(const Expr& condition, const ShortLoops& loops) {
  const auto* node = condition.as<Binary>();
  if (node == nullptr) return {};
  if (node->op == BinaryOp::logical_and) {
    const Known left = known_by(node->left, loops);
    return left.var.defined() ? left : known_by(node->right, loops);
  }
  const std::int64_t* bound = as_int(node->right);
  const auto loop = loops.find(node->left.get());
  if (bound == nullptr || loop == loops.end()) return {};
  const std::int64_t first = loop->second.first;
  const bool is_first = (node->op == BinaryOp::lt && *bound == first + 1) ||
                        (node->op == BinaryOp::le && *bound == first) || (node->op == BinaryOp::eq && *bound == first);
  return is_first ? Known{node->left, first} : Known{};
}

class AccessCollector : public Visitor {
 public:
  AccessCollector(const ShortLoops& loops, Known when) : loops_(loops), when_(std::move(when)) {}
  Accesses found;

 protected:
  void visit_node(const If& node) override {
    visit(node.condition);
    const Known outer = when_;
    if (const Known known = known_by(node.condition, loops_); known.var.defined()) when_ = known;
    visit(node.on_true);
    when_ = outer;
    if (node.on_false.defined()) visit(node.on_false);
  }
  void visit_node(const Load& node) override {
    if (node.buffer->scope == Scope::shared) add(node.buffer, node.indices, nullptr);
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    if (node.buffer->scope == Scope::shared) add(node.buffer, node.indices, &node);
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  void add(const BufferRef& buffer, const std::vector<Expr>& indices, const Store* store) {
    found.push_back({buffer.get(), &indices, store, indices.empty() ? Expr() : indices.front(), when_});
  }

  const ShortLoops& loops_;
  Known when_;
};

template <class Part>
Accesses accesses_of(const Part& part, const ShortLoops& loops = {}, const Known& when = {}) {
  AccessCollector collector(loops, when);
  collector.visit(part);
  return std::move(collector.found);
}

// Returns the number of parts for an index such as (k + 1) % 3, and 0 for any other.
std::int64_t parts_of(const Expr& index) {
  const auto* node = index.defined() ? index.as<Binary>() : nullptr;
  if (node == nullptr || node->op != BinaryOp::mod) return 0;
  const std::int64_t* parts = as_int(node->right);
  return parts == nullptr ? 0 : *parts;
}

// Returns the first index in the only iteration in which the access happens.
Expr part_in(const Expr& part, const Known& when) {
  if (!when.var.defined() || !uses_var(part, when.var)) return part;
  return simplify(substitute(part, {{when.var.get(), Expr(when.value)}}));
}

bool is_same(const Access& a, const Access& b) {
  return a.buffer == b.buffer && a.indices == b.indices && a.store == b.store && a.when.var.same_as(b.when.var) &&
         a.when.value == b.when.value && a.part.defined() == b.part.defined() &&
         (!a.part.defined() || equal(a.part, b.part));
}

void add_once(Accesses& all, const Access& access) {
  if (std::none_of(all.begin(), all.end(), [&](const Access& one) { return is_same(one, access); }))
    all.push_back(access);
}

// Returns whether two accesses differ in the first dimension: parts k % 3 and (k + 1) % 3 of a buffer that
// double_buffer has extended, or parts 3 and k of an access that happens only where k is 0.
bool disjoint_parts(const Access& first, const Access& second) {
  if (!first.part.defined() || !second.part.defined()) return false;
  const Known &a = first.when, &b = second.when;
  if (a.var.defined() && a.var.same_as(b.var) && a.value != b.value) return true;
  const Expr one_part = part_in(part_in(first.part, a), b), other_part = part_in(part_in(second.part, a), b);
  const std::int64_t *one = as_int(one_part), *other = as_int(other_part);
  if (one != nullptr && other != nullptr) return *one != *other;
  const std::int64_t parts = parts_of(first.part);
  if (parts == 0 || parts != parts_of(second.part)) return false;
  const Expr distance = simplify(first.part.as<Binary>()->left - second.part.as<Binary>()->left);
  const std::int64_t* known = as_int(distance);
  return known != nullptr && *known % parts != 0;
}

// Collects the statements before which a barrier is needed.
class BarrierPlan {
 public:
  // Number of values each variable takes; -1 when that is unknown.
  using Ranges = std::unordered_map<const ExprNode*, std::int64_t>;

  BarrierPlan(std::vector<Expr> threads, Ranges ranges)
      : threads_(std::move(threads)), differing_(threads_), ranges_(std::move(ranges)) {}
  std::unordered_set<const StmtNode*> before;

  // `pending`: the accesses since the last barrier.
  void walk(const Stmt& stmt, Accesses& pending) {
    if (const Block* block = stmt.as<Block>()) {
      for (const Stmt& step : block->body) walk(step, pending);
      return;
    }
    if (before.contains(stmt.get())) pending.clear();
    if (const Store* store = stmt.as<Store>(); store != nullptr && shuffle_of(*store) != nullptr && divided_)
      throw CompileError("the threads of a block combine what '" + store->buffer->name +
                         "' holds: expected that all of them come there, got a condition or a loop that differs from "
                         "thread to thread");
    if (const Evaluate* order = stmt.as<Evaluate>(); order != nullptr && groups_left(*order)) {
      // Asynchronous stores may have completed only now.
      for (const Access& late : late_) add_once(pending, late);
      return;
    }
    const Accesses own = accesses_of(stmt, loops_, when_);
    if (own.empty() && !is_common(stmt)) return;
    const Access* cause = conflict(pending, own);
    if (cause == nullptr) return descend(stmt, own, pending);
    Accesses inside;
    descend(stmt, own, inside);
    const For* loop = stmt.as<For>();
    if (loop != nullptr && begins_with_barrier(loop->body, pending)) {
      // The body clears the pending accesses unless the trip count is zero.
      if (const std::int64_t* extent = as_int(loop->extent); extent != nullptr && *extent > 0) pending.clear();
    } else {
      expect_common(*cause);
      before.insert(stmt.get());
      pending.clear();
    }
    for (const Access& access : inside) add_once(pending, access);
  }

 private:
  // Requires that all threads of a block reach the barrier.
  void expect_common(const Access& cause) const {
    if (!divided_) return;
    throw CompileError("'" + cause.buffer->name +
                       "' is in shared memory, and the threads of a block have to wait for "
                       "each other where they use it: expected that all of them come there, got a condition or a loop "
                       "that differs from thread to thread");
  }

  // Returns whether a barrier precedes every access that may conflict with the accesses so far.
  bool begins_with_barrier(const Stmt& stmt, const Accesses& so_far) const {
    if (before.contains(stmt.get())) return true;
    const auto collides = [&](const auto& part) {
      return conflict(so_far, accesses_of(part, loops_, when_)) != nullptr;
    };
    if (const auto* block = stmt.as<Block>()) {
      for (const Stmt& step : block->body)
        if (before.contains(step.get()) || collides(step)) return begins_with_barrier(step, so_far);
      return false;
    }
    if (const auto* allocation = stmt.as<Allocate>()) return begins_with_barrier(allocation->body, so_far);
    const auto* let = stmt.as<LetStmt>();
    return let != nullptr && !collides(let->value) && begins_with_barrier(let->body, so_far);
  }

  void descend(const Stmt& stmt, const Accesses& own, Accesses& pending) {
    if (const For* loop = stmt.as<For>()) {
      const bool had = std::exchange(divided_, divided_ || differs(loop->min) || differs(loop->extent));
      const std::int64_t* extent = as_int(loop->extent);
      ranges_[loop->var.get()] = extent == nullptr ? -1 : *extent;
      const std::int64_t* first = as_int(loop->min);
      if (first != nullptr && extent != nullptr && *extent >= 1 && *extent <= kMostWalks)
        loops_[loop->var.get()] = {*first, *extent};
      // Walks the body again with the accesses of the previous iteration and, for rotating parts, until every part has
      // been reused.
      std::int64_t walks = 2;
      for (const Access& access : accesses_of(loop->body, loops_, when_)) {
        if (parts_of(access.part) != 0 && uses_var(access.part, loop->var))
          walks = std::max(walks, parts_of(access.part) + 1);
        if (access.when.var.same_as(loop->var)) walks = std::max(walks, *extent);
      }
      for (std::int64_t i = 0; i < walks; ++i) {
        for (Accesses* accesses : {&pending, &late_})
          if (i > 0) set_parts(*accesses, loop->var, loop->var - 1);
        walk(loop->body, pending);
      }
      for (Accesses* accesses : {&pending, &late_}) set_parts(*accesses, loop->var, {});
      divided_ = had;
    } else if (const If* choice = stmt.as<If>()) {
      const bool had = std::exchange(divided_, divided_ || differs(choice->condition));
      Accesses otherwise = pending;
      const Known outer = when_;
      if (const Known known = known_by(choice->condition, loops_); known.var.defined()) when_ = known;
      walk(choice->on_true, pending);
      when_ = outer;
      if (choice->on_false.defined()) walk(choice->on_false, otherwise);
      for (const Access& access : otherwise) add_once(pending, access);
      divided_ = had;
    } else if (const LetStmt* let = stmt.as<LetStmt>()) {
      if (differs(let->value)) differing_.push_back(let->var);
      ranges_[let->var.get()] = -1;
      walk(let->body, pending);
    } else if (const Allocate* allocation = stmt.as<Allocate>()) {
      walk(allocation->body, pending);
    } else if (const Intrinsic* intrinsic = stmt.as<Intrinsic>()) {
      walk(intrinsic->definition, pending);
    } else {
      for (const Access& access : own) {
        add_once(pending, access);
        if (access.store != nullptr && access.store->buffer->filled_asynchronously) add_once(late_, access);
      }
    }
  }

  // Moves accesses into the next iteration: the variable gets `value` in them, one less than before. Without a value
  // the variable is no longer known.
  static void set_parts(Accesses& pending, const Expr& var, const Expr& value) {
    for (Access& access : pending) {
      if (access.part.defined() && uses_var(access.part, var))
        access.part = value.defined() ? substitute(access.part, {{var.get(), value}}) : Expr();
      if (!access.when.var.same_as(var)) continue;
      if (value.defined())
        ++access.when.value;
      else
        access.when = {};
    }
  }

  // Returns the first new access that may conflict with an old one of another thread.
  const Access* conflict(const Accesses& old, const Accesses& now) const {
    for (const Access& second : now)
      for (const Access& first : old)
        if (first.buffer == second.buffer && may_collide(first, second)) return &second;
    return nullptr;
  }

  bool may_collide(const Access& first, const Access& second) const {
    if (first.store == nullptr && second.store == nullptr) return false;
    // The loops of a stage compute each point once, so its store never writes an element twice before it is read.
    return first.store != second.store && !disjoint_parts(first, second) && !is_own(first, second);
  }

  // Returns whether two threads whose accesses touch the same element must be the same thread.
  bool is_own(const Access& first, const Access& second) const {
    for (std::size_t i = 0; i < first.indices->size(); ++i)
      if (!equal((*first.indices)[i], (*second.indices)[i])) return false;
    std::vector<Expr> known;
    for (const Expr& index : *first.indices) add_determined(index, known);
    return std::all_of(threads_.begin(), threads_.end(), [&](const Expr& thread) {
      return std::any_of(known.begin(), known.end(), [&](const Expr& var) { return var.same_as(thread); });
    });
  }

  // Adds the variables whose values follow from the index: those of a sum in which each has a larger weight than all
  // lighter ones together can contribute.
  void add_determined(const Expr& index, std::vector<Expr>& known) const {
    struct Term {
      Expr var;
      std::int64_t weight, values;
    };
    std::vector<Term> terms;
    for (const Expr& var : free_vars(index)) {
      const auto range = ranges_.find(var.get());
      if (range == ranges_.end()) continue;  // a size: it never changes
      const auto affine = affine_in(index, var);
      if (!affine) return;
      terms.push_back({var, std::abs(affine->coefficient), range->second});
    }
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.weight < b.weight; });
    std::int64_t reach = 1;  // greater than the maximum that the lighter ones contribute
    for (const Term& term : terms) {
      if (term.weight < reach) return;
      const bool is_last = &term == &terms.back();
      if (!is_last && (term.values < 0 || __builtin_mul_overflow(term.weight, term.values, &reach))) return;
    }
    for (const Term& term : terms) known.push_back(term.var);
  }

  // Returns whether threads may see different values; a value from memory may be anything.
  bool differs(const Expr& expr) const {
    return contains(expr, {NodeKind::Load}) ||
           std::any_of(differing_.begin(), differing_.end(), [&](const Expr& var) { return uses_var(expr, var); });
  }

  std::vector<Expr> threads_, differing_;
  Ranges ranges_;
  ShortLoops loops_;
  Known when_;            // known from the enclosing conditions
  Accesses late_;         // asynchronous stores
  bool divided_ = false;  // whether an enclosing condition or loop differs between threads
};

class Inserter : public Mutator {
 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    if (!is_thread(node.for_kind)) return Mutator::mutate_node(node, self);
    const ThreadNest nest = thread_nest(node);
    std::vector<Expr> threads;
    BarrierPlan::Ranges ranges;
    for (const ThreadAxis& axis : nest.axes) {
      ranges[axis.var.get()] = axis.extent;
      if (axis.extent != 1) threads.push_back(axis.var);
    }
    if (threads.empty()) return self;
    BarrierPlan plan(std::move(threads), std::move(ranges));
    Accesses pending;
    plan.walk(nest.innermost->body, pending);
    before_ = std::move(plan.before);
    return before_.empty() ? self : with_body(node, *nest.innermost, put(nest.innermost->body));
  }

 private:
  Stmt put(const Stmt& stmt) const {
    Stmt result = stmt;
    if (const Block* block = stmt.as<Block>()) {
      std::vector<Stmt> steps;
      for (const Stmt& step : block->body) steps.push_back(put(step));
      result = Block::make(std::move(steps));
    } else if (const For* loop = stmt.as<For>()) {
      result = For::make(loop->var, loop->min, loop->extent, loop->for_kind, put(loop->body));
    } else if (const If* choice = stmt.as<If>()) {
      result = If::make(choice->condition, put(choice->on_true),
                        choice->on_false.defined() ? put(choice->on_false) : Stmt());
    } else if (const LetStmt* let = stmt.as<LetStmt>()) {
      result = LetStmt::make(let->var, let->value, put(let->body));
    } else if (const Allocate* allocation = stmt.as<Allocate>()) {
      result = Allocate::make(allocation->buffer, put(allocation->body));
    }
    return before_.contains(stmt.get()) ? Block::make({make_barrier(), result}) : result;
  }

  std::unordered_set<const StmtNode*> before_;
};

}  // namespace

Function insert_barriers(Function function) {
  function.body = Inserter().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
