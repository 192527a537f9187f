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
  Collector(const SharedAccessFinder& finder, Known when) : finder_(finder), when_(std::move(when)) {}
  SharedAccesses found;

 protected:
  void visit_node(const If& node) override {
    visit(node.condition);
    const Known outer = when_;
    if (const Known known = finder_.known_by(node.condition); known.var.defined()) when_ = known;
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

  const SharedAccessFinder& finder_;
  Known when_;
};

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

bool is_same(const SharedAccess& a, const SharedAccess& b) {
  return a.buffer == b.buffer && a.indices == b.indices && a.store == b.store && a.when.var.same_as(b.when.var) &&
         a.when.value == b.when.value && a.part.defined() == b.part.defined() &&
         (!a.part.defined() || equal(a.part, b.part));
}

// Returns whether two accesses differ in the first dimension: parts k % 3 and (k + 1) % 3 of a buffer that
// double_buffer has extended, or parts 3 and k of an access that happens only where k is 0.
bool disjoint_parts(const SharedAccess& first, const SharedAccess& second) {
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
    if (access.part.defined() && uses_var(access.part, var))
      access.part = substitute(access.part, {{var.get(), var - 1}});
    if (access.when.var.same_as(var)) ++access.when.value;
  }
}

void leave_loop(SharedAccesses& accesses, const Expr& var) {
  for (SharedAccess& access : accesses) {
    if (access.part.defined() && uses_var(access.part, var)) access.part = {};
    if (access.when.var.same_as(var)) access.when = {};
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

Known SharedAccessFinder::known_by(const Expr& condition) const {
  const auto* node = condition.as<Binary>();
  if (node == nullptr) return {};
  if (node->op == BinaryOp::logical_and) {
    const Known left = known_by(node->left);
    return left.var.defined() ? left : known_by(node->right);
  }
  const std::int64_t* bound = as_int(node->right);
  const auto loop = short_loops_.find(node->left.get());
  if (bound == nullptr || loop == short_loops_.end()) return {};
  const std::int64_t first = loop->second.first;
  const bool is_first = (node->op == BinaryOp::lt && *bound == first + 1) ||
                        (node->op == BinaryOp::le && *bound == first) || (node->op == BinaryOp::eq && *bound == first);
  return is_first ? Known{node->left, first} : Known{};
}

SharedAccesses SharedAccessFinder::in(const Stmt& stmt, const Known& when) const {
  Collector collector(*this, when);
  collector.visit(stmt);
  return std::move(collector.found);
}

SharedAccesses SharedAccessFinder::in(const Expr& expr, const Known& when) const {
  Collector collector(*this, when);
  collector.visit(expr);
  return std::move(collector.found);
}

std::int64_t SharedAccessFinder::distinct_iterations(const For& loop, const Known& when) const {
  std::int64_t iterations = 2;
  for (const SharedAccess& access : in(loop.body, when)) {
    if (parts_of(access.part) != 0 && uses_var(access.part, loop.var))
      iterations = std::max(iterations, parts_of(access.part) + 1);
    if (access.when.var.same_as(loop.var)) iterations = std::max(iterations, *as_int(loop.extent));
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
