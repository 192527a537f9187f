#include "crosscompile/passes/gpu/split_vthreads.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

using Buffers = std::unordered_set<const Buffer*>;

// Finds the local arrays allocated in the loop whose contents differ from one virtual thread to the next.
class OwnArrays : public Visitor {
 public:
  explicit OwnArrays(const Expr& var) { differing_.insert(var.get()); }

  Buffers find(const Stmt& body) {
    for (std::size_t before = kNone; before != own.size();) {
      before = own.size();
      visit(body);
    }
    return own;
  }

 protected:
  void visit_node(const Allocate& node) override {
    if (node.buffer->scope == Scope::local) local_.insert(node.buffer.get());
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    const bool had = std::exchange(differs_, under_);
    Visitor::visit_node(node);
    if (differs_ && local_.contains(node.buffer.get())) own.insert(node.buffer.get());
    differs_ = had;
  }
  void visit_node(const For& node) override {
    if (differs(node.min) || differs(node.extent)) differing_.insert(node.var.get());
    const bool had = std::exchange(under_, under_ || differing_.contains(node.var.get()));
    visit(node.body);
    under_ = had;
  }
  void visit_node(const If& node) override {
    const bool had = std::exchange(under_, under_ || differs(node.condition));
    visit(node.on_true);
    visit(node.on_false);
    under_ = had;
  }
  void visit_node(const LetStmt& node) override {
    if (differs(node.value)) differing_.insert(node.var.get());
    visit(node.body);
  }
  void visit_node(const Var& node) override { differs_ = differs_ || differing_.contains(&node); }
  void visit_node(const Load& node) override {
    differs_ = differs_ || own.contains(node.buffer.get());
    Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  bool differs(const Expr& expr) {
    const bool had = std::exchange(differs_, false);
    visit(expr);
    return std::exchange(differs_, had);
  }

  Buffers own, local_;
  std::unordered_set<const ExprNode*> differing_;
  bool differs_ = false;  // for the subexpression visited last
  bool under_ = false;    // inside of a loop or condition that differs
};

// Adds a first dimension to arrays, indexed by the variable.
class CopyPerVthread : public Mutator {
 public:
  CopyPerVthread(const Buffers& arrays, Expr var, Expr copies)
      : arrays_(arrays), var_(std::move(var)), copies_(std::move(copies)) {}
  Buffers widened;

 protected:
  using Mutator::mutate_node;
  Expr mutate_node(const Load& node, const Expr& self) override {
    const Expr load = Mutator::mutate_node(node, self);
    if (!arrays_.contains(node.buffer.get())) return load;
    return Load::make(copied(node.buffer), select_copy(load.as<Load>()->indices), load.as<Load>()->mask);
  }
  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const Stmt result = Mutator::mutate_node(node, self);
    if (!arrays_.contains(node.buffer.get())) return result;
    const Store& store = *result.as<Store>();
    return Store::make(copied(node.buffer), select_copy(store.indices), store.value, store.mask);
  }
  Stmt mutate_node(const Allocate& node, const Stmt& self) override {
    if (!arrays_.contains(node.buffer.get())) return Mutator::mutate_node(node, self);
    return Allocate::make(copied(node.buffer), mutate(node.body));
  }

 private:
  std::vector<Expr> select_copy(std::vector<Expr> indices) const {
    indices.insert(indices.begin(), var_);
    return indices;
  }
  BufferRef copied(const BufferRef& buffer) {
    BufferRef& result = copied_[buffer.get()];
    if (result == nullptr) {
      auto made = std::make_shared<Buffer>(*buffer);
      made->shape.insert(made->shape.begin(), copies_);
      result = std::move(made);
      widened.insert(result.get());
    }
    return result;
  }

  const Buffers& arrays_;
  Expr var_, copies_;
  std::unordered_map<const Buffer*, BufferRef> copied_;
};

// Distributes the loop over the innermost statements that depend on its variable.
class Distribution {
 public:
  explicit Distribution(const For& loop) : loop_(loop) {}

  Stmt over(const Stmt& stmt) {
    if (!uses_var(stmt, loop_.var)) return stmt;
    if (const Block* block = stmt.as<Block>()) {
      std::vector<Stmt> steps;
      for (const Stmt& step : block->body) steps.push_back(over(step));
      return Block::make(std::move(steps));
    }
    // Vectorized loops are not distributed: their iterations execute together.
    if (const For* loop = stmt.as<For>();
        loop != nullptr && loop->for_kind != ForKind::vectorized && !uses(loop->min) && !uses(loop->extent))
      return For::make(loop->var, loop->min, loop->extent, loop->for_kind, over(loop->body));
    if (const If* choice = stmt.as<If>(); choice != nullptr && !uses(choice->condition))
      return If::make(choice->condition, over(choice->on_true),
                      choice->on_false.defined() ? over(choice->on_false) : Stmt());
    if (const LetStmt* let = stmt.as<LetStmt>(); let != nullptr && !uses(let->value))
      return LetStmt::make(let->var, let->value, over(let->body));
    if (const Allocate* allocation = stmt.as<Allocate>())
      return Allocate::make(allocation->buffer, over(allocation->body));
    if (const InstructionStmt* intrinsic = stmt.as<InstructionStmt>();
        intrinsic != nullptr && intrinsic->arguments.empty())
      return InstructionStmt::make(intrinsic->instruction, {}, over(intrinsic->definition));
    // Each copy of the loop gets its own variable.
    const Expr var = Var::make(loop_.var.as<Var>()->name);
    return For::make(var, loop_.min, loop_.extent, ForKind::unrolled, fresh_copy(stmt, {{loop_.var.get(), var}}));
  }

 private:
  bool uses(const Expr& expr) const { return uses_var(expr, loop_.var); }
  const For& loop_;
};

class Splitter : public Mutator {
 protected:
  using Mutator::mutate_node;
  Stmt mutate_node(const For& node, const Stmt& self) override {
    const Stmt mutated = Mutator::mutate_node(node, self);
    const For* loop = mutated.as<For>();
    if (loop == nullptr || loop->for_kind != ForKind::vthread) return mutated;
    const Expr extent = simplify(loop->extent);
    if (as_int(extent) == nullptr)
      throw CompileError("vthread: expected a constant number of virtual threads, got the loop '" +
                         loop->var.as<Var>()->name + "', whose extent is known only at run time");
    const Buffers own = OwnArrays(loop->var).find(loop->body);
    const Stmt body = CopyPerVthread(own, loop->var - loop->min, extent).mutate(loop->body);
    const Stmt whole = For::make(loop->var, loop->min, extent, ForKind::vthread, body);
    return Distribution(*whole.as<For>()).over(body);
  }
};

}  // namespace

Function split_vthreads(Function function) {
  function.body = Splitter().mutate(function.body);
  return function;
}

}  // namespace ferry::passes
