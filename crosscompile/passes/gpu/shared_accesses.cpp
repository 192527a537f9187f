#include "crosscompile/passes/gpu/shared_accesses.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

constexpr std::int64_t kLongestShortLoop = 8;

class Collector : public Visitor {
 public:
  Collector(const SharedAccessFinder& finder, OnlyIteration only_in) : finder_(finder), only_in_(std::move(only_in)) {}
  SharedAccesses found;

 protected:
  void visit_node(const If& node) override {
    visit(node.condition);
    const OnlyIteration outer = only_in_;
    if (const OnlyIteration known = finder_.only_iteration(node.condition); known.var.defined()) only_in_ = known;
    visit(node.on_true);
    only_in_ = outer;
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
    found.push_back({buffer.get(), &indices, store, indices.empty() ? Expr() : indices.front(), only_in_});
  }

  const SharedAccessFinder& finder_;
  OnlyIteration only_in_;
};

// Returns the number of parts for an index such as (k + 1) % 3, and 0 for any other.
std::int64_t parts_of(const Expr& index) {
  const auto* node = index.defined() ? index.as<Binary>() : nullptr;
  if (node == nullptr || node->op != BinaryOp::mod) return 0;
  const std::int64_t* parts = as_int(node->right);
  return parts == nullptr ? 0 : *parts;
}

// Returns the first index in the only iteration in which the access happens.
Expr part_in(const Expr& part, const OnlyIteration& only_in) {
  if (!only_in.var.defined() || !uses_var(part, only_in.var)) return part;
  return simplify(substitute(part, {{only_in.var.get(), Expr(only_in.value)}}));
}

bool is_same(const SharedAccess& a, const SharedAccess& b) {
  return a.buffer == b.buffer && a.indices == b.indices && a.store == b.store && a.only_in.var.same_as(b.only_in.var) &&
         a.only_in.value == b.only_in.value && a.buffer_index.defined() == b.buffer_index.defined() &&
         (!a.buffer_index.defined() || equal(a.buffer_index, b.buffer_index));
}

// Returns whether two accesses differ in the first dimension: parts k % 3 and (k + 1) % 3 of a buffer that
// double_buffer has extended, or parts 3 and k of an access that happens only where k is 0.
bool disjoint_parts(const SharedAccess& first, const SharedAccess& second) {
  if (!first.buffer_index.defined() || !second.buffer_index.defined()) return false;
  const OnlyIteration &a = first.only_in, &b = second.only_in;
  if (a.var.defined() && a.var.same_as(b.var) && a.value != b.value) return true;
  const Expr one_part = part_in(part_in(first.buffer_index, a), b),
             other_part = part_in(part_in(second.buffer_index, a), b);
  const std::int64_t *one = as_int(one_part), *other = as_int(other_part);
  if (one != nullptr && other != nullptr) return *one != *other;
  const std::int64_t parts = parts_of(first.buffer_index);
  if (parts == 0 || parts != parts_of(second.buffer_index)) return false;
  const Expr distance = simplify(first.buffer_index.as<Binary>()->left - second.buffer_index.as<Binary>()->left);
  const std::int64_t* known = as_int(distance);
  return known != nullptr && *known % parts != 0;
}

}  // namespace

bool contains(const SharedAccesses& all, const SharedAccess& access) {
  return std::any_of(all.begin(), all.end(), [&](const SharedAccess& one) { return is_same(one, access); });
}

void add_once(SharedAccesses& all, const SharedAccess& access) {
  if (!contains(all, access)) all.push_back(access);
}

void add_once(SharedAccesses& all, const SharedAccesses& more) {
  for (const SharedAccess& access : more) add_once(all, access);
}

void enter_next_iteration(SharedAccesses& accesses, const Expr& var) {
  for (SharedAccess& access : accesses) {
    if (access.buffer_index.defined() && uses_var(access.buffer_index, var))
      access.buffer_index = substitute(access.buffer_index, {{var.get(), var - 1}});
    if (access.only_in.var.same_as(var)) ++access.only_in.value;
  }
}

void leave_loop(SharedAccesses& accesses, const Expr& var) {
  for (SharedAccess& access : accesses) {
    if (access.buffer_index.defined() && uses_var(access.buffer_index, var)) access.buffer_index = {};
    if (access.only_in.var.same_as(var)) access.only_in = {};
  }
}

SharedAccessFinder::SharedAccessFinder(std::span<const ThreadAxis> axes) {
  for (const ThreadAxis& axis : axes) {
    ranges_[axis.var.get()] = axis.extent;
    if (axis.extent != 1) threads_.push_back(axis.var);
  }
}

void SharedAccessFinder::define(const For& loop) {
  const std::int64_t *first = as_int(loop.min), *extent = as_int(loop.extent);
  ranges_[loop.var.get()] = extent == nullptr ? -1 : *extent;
  if (first != nullptr && extent != nullptr && *extent >= 1 && *extent <= kLongestShortLoop)
    short_loops_[loop.var.get()] = {*first, *extent};
}

void SharedAccessFinder::define(const LetStmt& let) { ranges_[let.var.get()] = -1; }

OnlyIteration SharedAccessFinder::only_iteration(const Expr& condition) const {
  const auto* node = condition.as<Binary>();
  if (node == nullptr) return {};
  if (node->op == BinaryOp::logical_and) {
    const OnlyIteration left = only_iteration(node->left);
    return left.var.defined() ? left : only_iteration(node->right);
  }
  const std::int64_t* bound = as_int(node->right);
  const auto loop = short_loops_.find(node->left.get());
  if (bound == nullptr || loop == short_loops_.end()) return {};
  const std::int64_t first = loop->second.first;
  const bool is_first = (node->op == BinaryOp::lt && *bound == first + 1) ||
                        (node->op == BinaryOp::le && *bound == first) || (node->op == BinaryOp::eq && *bound == first);
  return is_first ? OnlyIteration{node->left, first} : OnlyIteration{};
}

SharedAccesses SharedAccessFinder::in(const Stmt& stmt, const OnlyIteration& only_in) const {
  Collector collector(*this, only_in);
  collector.visit(stmt);
  return std::move(collector.found);
}

SharedAccesses SharedAccessFinder::in(const Expr& expr, const OnlyIteration& only_in) const {
  Collector collector(*this, only_in);
  collector.visit(expr);
  return std::move(collector.found);
}

std::int64_t SharedAccessFinder::distinct_iterations(const For& loop, const OnlyIteration& only_in) const {
  std::int64_t iterations = 2;
  for (const SharedAccess& access : in(loop.body, only_in)) {
    if (parts_of(access.buffer_index) != 0 && uses_var(access.buffer_index, loop.var))
      iterations = std::max(iterations, parts_of(access.buffer_index) + 1);
    if (access.only_in.var.same_as(loop.var)) iterations = std::max(iterations, *as_int(loop.extent));
  }
  return iterations;
}

const SharedAccess* SharedAccessFinder::conflict(const SharedAccesses& old, const SharedAccesses& now) const {
  for (const SharedAccess& second : now)
    for (const SharedAccess& first : old)
      if (first.buffer == second.buffer && may_collide(first, second)) return &second;
  return nullptr;
}

bool SharedAccessFinder::may_collide(const SharedAccess& first, const SharedAccess& second) const {
  if (first.store == nullptr && second.store == nullptr) return false;
  // The loops of a stage compute each point once, so its store never writes an element twice before it is read.
  return first.store != second.store && !disjoint_parts(first, second) && !is_own(first, second);
}

// Returns whether two threads whose accesses touch the same element must be the same thread.
bool SharedAccessFinder::is_own(const SharedAccess& first, const SharedAccess& second) const {
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
void SharedAccessFinder::add_determined(const Expr& index, std::vector<Expr>& known) const {
  struct Term {
    Expr var;
    std::int64_t weight, values;
  };
  std::vector<Term> terms;
  for (const Expr& var : free_vars(index)) {
    const auto range = ranges_.find(var.get());
    if (range == ranges_.end()) continue;  // a size: it never changes
    const auto affine = analysis::affine_in(index, var);
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

}  // namespace ferry::passes
