#include "crosscompile/passes/gpu/map_threads.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

bool is_gpu(ForKind kind) { return is_block(kind) || is_thread(kind); }

constexpr std::array<ForKind, 6> kAxes = {ForKind::block_z,  ForKind::block_y,  ForKind::block_x,
                                          ForKind::thread_z, ForKind::thread_y, ForKind::thread_x};

// An axis of the grid or the block.
struct Axis {
  Expr var, extent;  // nothing when no loop is bound to it
  std::string loop;  // the loop that gives the extent
};
using Axes = std::unordered_map<ForKind, Axis>;

std::string name_of(const Expr& var) { return var.as<Var>()->name; }

class AxisCollector : public Visitor {
 public:
  Axes axes;

 protected:
  void visit_node(const For& node) override {
    if (is_gpu(node.for_kind)) add(node);
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  void add(const For& node) {
    const Expr extent = simplify(node.extent);
    const std::string kind = kind_name(node.for_kind), loop = name_of(node.var);
    if (is_thread(node.for_kind) && as_int(extent) == nullptr)
      throw CompileError(kind + ": expected a constant number of threads, got the loop '" + loop +
                         "', whose extent is known only at run time; split it and bind the inner axis");
    Axis& axis = axes[node.for_kind];
    if (!axis.extent.defined()) {
      axis = {Var::make(kind), extent, loop};
      return;
    }
    if (!equal(axis.extent, extent) && !can_prove(axis.extent == extent))
      throw CompileError(kind + ": expected one extent in a kernel, got " + size_text(axis.extent) + " (the loop '" +
                         axis.loop + "') and " + size_text(extent) + " (the loop '" + loop + "')");
  }

  static std::string size_text(const Expr& extent) {
    const std::int64_t* known = as_int(extent);
    return known != nullptr ? std::to_string(*known) : "one that is known only at run time";
  }
};

class KernelMapper : public Mutator {
 public:
  explicit KernelMapper(Axes axes) : axes_(std::move(axes)) {}

  Stmt run(const Stmt& kernel) {
    Stmt body = mutate(kernel);
    if (!body) return body;
    for (std::size_t i = kAxes.size(); i-- > 0;) {
      if (kAxes[i] == ForKind::block_x)
        for (auto buffer = shared_.rbegin(); buffer != shared_.rend(); ++buffer)
          body = Allocate::make(*buffer, std::move(body));
      const auto axis = axes_.find(kAxes[i]);
      if (axis == axes_.end()) continue;
      body = For::make(axis->second.var, Expr(0), axis->second.extent, kAxes[i], std::move(body));
    }
    return body;
  }

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    if (!is_gpu(node.for_kind)) {
      const Stmt loop = Mutator::mutate_node(node, self);
      const For* result = loop.as<For>();
      return result == nullptr ? loop : guard_outside(*result, loop);
    }
    values_[node.var.get()] = simplify(mutate(node.min) + axes_.at(node.for_kind).var);
    open_.push_back(node.for_kind);
    Stmt body = mutate(node.body);
    open_.pop_back();
    return body;
  }

  Expr mutate_node(const Var& node, const Expr& self) override {
    const auto found = values_.find(&node);
    return found == values_.end() ? self : found->second;
  }

  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    opened_before_[node.buffer.get()] = open_.size();
    const Buffer& buffer = *node.buffer;
    const bool in_block = std::any_of(open_.begin(), open_.end(), is_gpu);
    if (buffer.scope == Scope::global && in_block)
      throw CompileError("'" + buffer.name +
                         "' is computed inside of a kernel: expected the shared or the local scope, "
                         "got global memory, of which there is one for all blocks");
    if (buffer.scope != Scope::shared) return Mutator::mutate_node(node, self);
    auto kept = std::make_shared<Buffer>(buffer);
    for (Expr& extent : kept->shape) {
      extent = simplify(extent);
      if (as_int(extent) == nullptr)
        throw CompileError("'" + buffer.name +
                           "': expected a constant size in shared memory, got one that is known only "
                           "at run time; compute it at an inner loop");
    }
    replaced_[node.buffer.get()] = kept;
    shared_.push_back(std::move(kept));
    return mutate(node.body);
  }

  BufferRef mutate_buffer(const BufferRef& buffer) override {
    const auto found = replaced_.find(buffer.get());
    return found == replaced_.end() ? buffer : found->second;
  }

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const auto before = opened_before_.find(node.buffer.get());
    const std::size_t first = before == opened_before_.end() ? 0 : before->second;
    const Scope scope = node.buffer->scope;
    const bool is_local = scope == Scope::local;
    const Stmt store = Mutator::mutate_node(node, self);
    Expr guard;
    for (const ForKind kind : kAxes) {
      const auto axis = axes_.find(kind);
      if (axis == axes_.end() || (is_block(kind) && scope != Scope::parameter && scope != Scope::global)) continue;
      const auto names_axis = [&](const Expr& index) { return uses_var(index, axis->second.var); };
      const std::vector<Expr>& indices = store.as<Store>()->indices;
      const bool is_own =
          std::find(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end(), kind) != open_.end() ||
          (!is_local && std::any_of(indices.begin(), indices.end(), names_axis));
      if (is_local && is_own)
        throw CompileError("'" + node.buffer->name + "' is computed by all threads together (" + kind_name(kind) +
                           "): expected the shared scope, got local memory, which is every thread's own");
      if (is_local || is_own || is_constant(axis->second.extent, 1)) continue;
      const Expr is_first = axis->second.var == Expr(0);
      guard = guard.defined() ? guard && is_first : is_first;
    }
    if (!guard.defined()) return store;
    Stmt guarded = If::make(guard, store);
    guards_.push_back(guard);
    return guarded;
  }

  Stmt mutate_node(const Block& node, const Stmt& self) override {
    const Stmt result = Mutator::mutate_node(node, self);
    const Block* block = result.as<Block>();
    if (block == nullptr || block->body.empty()) return result;
    // Merges the guards of all statements into one.
    std::vector<Stmt> inside;
    const Expr* guard = own_guard(block->body.front());
    for (const Stmt& stmt : block->body) {
      const Expr* other = own_guard(stmt);
      if (guard == nullptr || other == nullptr || !equal(*guard, *other)) return result;
      inside.push_back(stmt.as<If>()->on_true);
    }
    guards_.push_back(*guard);
    return If::make(guards_.back(), Block::make(std::move(inside)));
  }

 private:
  // Returns the condition of a statement that this pass guarded; null for any other.
  const Expr* own_guard(const Stmt& stmt) const {
    const If* choice = stmt.as<If>();
    if (choice == nullptr || choice->on_false.defined()) return nullptr;
    const bool is_own = std::any_of(guards_.begin(), guards_.end(),
                                    [&](const Expr& guard) { return guard.same_as(choice->condition); });
    return is_own ? &choice->condition : nullptr;
  }

  // Hoists the guard out of the loop.
  Stmt guard_outside(const For& loop, const Stmt& self) const {
    const Expr* guard = own_guard(loop.body);
    if (guard == nullptr) return self;
    return If::make(*guard, For::make(loop.var, loop.min, loop.extent, loop.for_kind, loop.body.as<If>()->on_true));
  }

  Axes axes_;
  std::vector<ForKind> open_;                                     // enclosing loops, outermost first
  std::unordered_map<const Buffer*, std::size_t> opened_before_;  // how many of them enclose a buffer
  std::unordered_map<const ExprNode*, Expr> values_;              // for the old loops' variables
  std::unordered_map<const Buffer*, BufferRef> replaced_;
  std::vector<BufferRef> shared_;
  std::vector<Expr> guards_;
};

Stmt map_kernel(const Stmt& stmt) {
  if (!has_gpu_loops(stmt)) return stmt;
  AxisCollector collector;
  collector.visit(stmt);
  return KernelMapper(std::move(collector.axes)).run(stmt);
}

// Allocations of global memory around kernels belong to no kernel.
Stmt map_kernels(const Stmt& stmt) {
  if (const auto* block = stmt.as<Block>()) {
    std::vector<Stmt> kernels;
    for (const Stmt& part : block->body) kernels.push_back(map_kernels(part));
    return Block::make(std::move(kernels));
  }
  if (const auto* allocation = stmt.as<Allocate>(); allocation != nullptr && allocation->buffer->scope == Scope::global)
    return Allocate::make(allocation->buffer, map_kernels(allocation->body));
  return map_kernel(stmt);
}

}  // namespace

Function map_threads(Function function) {
  if (!function.body.defined() || !has_gpu_loops(function.body)) return function;
  function.body = map_kernels(function.body);
  return function;
}

}  // namespace ferry::passes
