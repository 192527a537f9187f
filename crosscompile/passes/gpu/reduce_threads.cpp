#include "crosscompile/passes/gpu/reduce_threads.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/gpu/reduction_tree.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace ferry::passes {
namespace {

using namespace ir;

bool is_any_of(const Expr& var, const std::vector<Expr>& vars) {
  return std::any_of(vars.begin(), vars.end(), [&](const Expr& one) { return one.same_as(var); });
}

// An array in shared memory in which each thread writes only its own elements.
struct Parts {
  std::vector<Expr> threads;      // axes of the block that occur as indices
  std::vector<std::size_t> kept;  // dimensions indexed by anything else
  BufferRef own;                  // the kept dimensions, in each thread's own memory
};
using PartsOf = std::unordered_map<const Buffer*, Parts>;

// Perfectly nested combining loops.
struct CombineNest {
  std::vector<Expr> vars;
  Stmt body;
};
CombineNest combine_nest(const For& outermost) {
  CombineNest nest{{outermost.var}, outermost.body};
  for (const For* inner = nest.body.as<For>(); inner != nullptr && inner->for_kind == ForKind::combine;
       inner = nest.body.as<For>()) {
    nest.vars.push_back(inner->var);
    nest.body = inner->body;
  }
  return nest;
}

// The buffers that a combining body writes and the loads that it combines, by component.
class Components : public Visitor {
 public:
  std::vector<const Buffer*> into;
  std::vector<const Load*> from;

 protected:
  using Visitor::visit_node;
  void visit_node(const Load& node) override {
    if (node.buffer->scope == Scope::shared) put(from, node.buffer->component, &node);
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    put(into, node.buffer->component, node.buffer.get());
    Visitor::visit_node(node);
  }

 private:
  template <class T>
  static void put(std::vector<const T*>& list, std::size_t component, const T* what) {
    list.resize(std::max(list.size(), component + 1));
    list[component] = what;
  }
};

Components components_of(const Stmt& body) {
  Components components;
  components.visit(body);
  const auto has_all = [&](const auto& list) {
    return list.size() == components.into.size() && std::find(list.begin(), list.end(), nullptr) == list.end();
  };
  if (!has_all(components.into) || !has_all(components.from))
    throw CompileError(
        "a reduction over threads: expected a reducer that combines every component of its tuple with "
        "that of the other side, got one that leaves some out");
  return components;
}

// Finds the arrays that the block's combining loops read.
class PartsFinder : public Visitor {
 public:
  explicit PartsFinder(const std::vector<ThreadAxis>& axes) {
    for (const ThreadAxis& axis : axes) axes_.push_back(axis.var);
  }
  PartsOf find(const Stmt& body) {
    visit(body);
    is_second_ = true;
    visit(body);
    return std::move(parts_);
  }

 protected:
  using Visitor::visit_node;
  void visit_node(const For& node) override {
    if (node.for_kind != ForKind::combine) return Visitor::visit_node(node);
    if (is_second_) return;
    for (const Load* load : components_of(combine_nest(node).body).from) parts_[load->buffer.get()] = {};
  }
  void visit_node(const Store& node) override {
    const auto found = parts_.find(node.buffer.get());
    if (!is_second_ || found == parts_.end() || found->second.own != nullptr) return;
    Parts& parts = found->second;
    auto own = std::make_shared<Buffer>(*node.buffer);
    own->scope = Scope::local;
    own->shape.clear();
    for (std::size_t i = 0; i < node.indices.size(); ++i) {
      if (is_any_of(node.indices[i], axes_)) {
        parts.threads.push_back(node.indices[i]);
      } else {
        parts.kept.push_back(i);
        own->shape.push_back(node.buffer->shape[i]);
      }
    }
    parts.own = std::move(own);
  }

 private:
  std::vector<Expr> axes_;
  PartsOf parts_;
  bool is_second_ = false;  // whether this is the second visit, when the arrays are known
};

// Rewrites the code that one block's threads run.
class BlockReducer : public Mutator {
 public:
  BlockReducer(const ThreadNest& nest, PartsOf parts, bool has_shuffles)
      : axes_(nest.axes), parts_(std::move(parts)), has_shuffles_(has_shuffles) {}
  std::vector<BufferRef> shared;

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Load& node, const Expr& self) override {
    const auto found = parts_.find(node.buffer.get());
    if (found == parts_.end()) return Mutator::mutate_node(node, self);
    return own_element(node.buffer.get(), node.indices).load();
  }

  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const auto found = parts_.find(node.buffer.get());
    if (found == parts_.end()) return Mutator::mutate_node(node, self);
    const Element element = own_element(node.buffer.get(), node.indices);
    return Store::make(element.buffer, element.indices, mutate(node.value));
  }

  // Where an axis does not occur in the array's indices, only its first thread was allowed to store. Now every thread
  // has an element of its own, so the condition is dropped.
  Stmt mutate_node(const If& node, const Stmt& self) override {
    const Stmt result = Mutator::mutate_node(node, self);
    const bool is_only_for_first = !node.on_false.defined() && asks_for_first(node.condition, node.on_true);
    return is_only_for_first ? result.as<If>()->on_true : result;
  }

  Stmt mutate_node(const For& node, const Stmt& self) override {
    return node.for_kind == ForKind::combine ? together(node) : Mutator::mutate_node(node, self);
  }

 private:
  Element own_element(const Buffer* buffer, const std::vector<Expr>& indices) {
    const Parts& parts = parts_.at(buffer);
    Element element{parts.own, {}};
    for (const std::size_t i : parts.kept) element.indices.push_back(mutate(indices[i]));
    return element;
  }

  Stmt together(const For& outermost) {
    const CombineNest nest = combine_nest(outermost);
    const Components components = components_of(nest.body);
    std::vector<const Buffer*> arrays;
    Elements own;
    for (const Load* load : components.from) {
      arrays.push_back(load->buffer.get());
      own.push_back(own_element(load->buffer.get(), load->indices));
    }
    const Combiner combiner(nest.body, components.into, arrays);
    const ThreadGroup group = group_of(axes_, combined_axes(nest, *components.from.front()));
    const bool by_shuffles = has_shuffles_ && group.fits_warps();
    CombineSteps steps = by_shuffles ? shuffle_steps(combiner, group, own) : tree_steps(combiner, group, own);
    shared.insert(shared.end(), steps.shared.begin(), steps.shared.end());
    Elements totals;
    for (const Buffer* total : components.into) totals.push_back(total_of(nest.body, total));
    steps.steps.push_back(combiner.apply(totals, steps.result));
    Stmt all = Block::make(std::move(steps.steps));
    for (const BufferRef& buffer : steps.local) all = Allocate::make(buffer, std::move(all));
    return all;
  }

  // Returns the block's axes at those indices of the array where the loops' variables occur.
  std::vector<Expr> combined_axes(const CombineNest& nest, const Load& load) const {
    const Parts& parts = parts_.at(load.buffer.get());
    std::vector<Expr> axes;
    std::size_t next = 0;
    for (std::size_t i = 0; i < load.indices.size(); ++i) {
      if (std::find(parts.kept.begin(), parts.kept.end(), i) != parts.kept.end()) continue;
      const Expr& axis = parts.threads.at(next++);
      if (is_any_of(load.indices[i], nest.vars)) axes.push_back(axis);
    }
    if (axes.size() != nest.vars.size())
      throw InternalError("'" + load.buffer->name + "' is combined over something that is no axis of the block");
    return axes;
  }

  static Element total_of(const Stmt& body, const Buffer* buffer) {
    struct StoreFinder : Visitor {
      const Buffer* wanted = nullptr;
      Element element;
      using Visitor::visit_node;
      void visit_node(const Store& node) override {
        if (node.buffer.get() == wanted) element = {node.buffer, node.indices};
      }
    } finder;
    finder.wanted = buffer;
    finder.visit(body);
    return finder.element;
  }

  // Returns whether the condition is of the form "threadIdx.y == 0", for axes that the arrays do not use, and the
  // statement stores only to such arrays.
  bool asks_for_first(const Expr& condition, const Stmt& stmt) const {
    struct Stores : Visitor {
      std::vector<const Buffer*> found;
      using Visitor::visit_node;
      void visit_node(const Store& node) override { found.push_back(node.buffer.get()); }
    } stores;
    stores.visit(stmt);
    return std::all_of(stores.found.begin(), stores.found.end(), [&](const Buffer* buffer) {
      const auto parts = parts_.find(buffer);
      return parts != parts_.end() && is_first(condition, parts->second);
    });
  }

  bool is_first(const Expr& condition, const Parts& parts) const {
    const auto* node = condition.as<Binary>();
    if (node == nullptr) return false;
    if (node->op == BinaryOp::logical_and) return is_first(node->left, parts) && is_first(node->right, parts);
    const bool is_axis =
        std::any_of(axes_.begin(), axes_.end(), [&](const ThreadAxis& axis) { return axis.var.same_as(node->left); });
    return node->op == BinaryOp::eq && is_axis && is_constant(node->right, 0) && !is_any_of(node->left, parts.threads);
  }

  const std::vector<ThreadAxis>& axes_;
  PartsOf parts_;
  bool has_shuffles_;
};

class Reducer : public Mutator {
 public:
  explicit Reducer(bool has_shuffles) : has_shuffles_(has_shuffles) {}

 protected:
  using Mutator::mutate_node;

  Stmt mutate_node(const For& node, const Stmt& self) override {
    if (!is_thread(node.for_kind)) return Mutator::mutate_node(node, self);
    const ThreadNest nest = thread_nest(node);
    const PartsOf parts = PartsFinder(nest.axes).find(nest.innermost->body);
    if (parts.empty()) return self;
    BlockReducer reducer(nest, parts, has_shuffles_);
    Stmt body = reducer.mutate(nest.innermost->body);
    for (const auto& [buffer, part] : parts) gone_.insert(buffer);
    body = in_order(parts, std::move(body));
    body = with_body(node, *nest.innermost, std::move(body));
    for (const BufferRef& buffer : reducer.shared) body = Allocate::make(buffer, std::move(body));
    return body;
  }

  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    order_.push_back(node.buffer.get());
    const Stmt result = Mutator::mutate_node(node, self);
    const auto* allocation = result.as<Allocate>();
    return allocation != nullptr && gone_.contains(node.buffer.get()) ? allocation->body : result;
  }

 private:
  // Allocates in the order of the arrays, so that the same input gives the same code.
  Stmt in_order(const PartsOf& parts, Stmt body) const {
    for (auto buffer = order_.rbegin(); buffer != order_.rend(); ++buffer)
      if (const auto part = parts.find(*buffer); part != parts.end())
        body = Allocate::make(part->second.own, std::move(body));
    return body;
  }

  bool has_shuffles_;
  std::vector<const Buffer*> order_;  // enclosing allocations
  std::unordered_set<const Buffer*> gone_;
};

}  // namespace

Function reduce_threads(Function function, const Target& target) {
  if (function.body.defined()) function.body = Reducer(target.capabilities.shuffles).mutate(function.body);
  return function;
}

}  // namespace ferry::passes
