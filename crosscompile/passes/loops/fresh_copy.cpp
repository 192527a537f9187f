#include "crosscompile/passes/loops/fresh_copy.h"

#include "crosscompile/ir/mutator.h"

#include <unordered_map>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

class Copier : public Mutator {
 public:
  explicit Copier(Substitution values) : values_(std::move(values)) {}

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Var& node, const Expr& self) override {
    const auto found = values_.find(&node);
    return found == values_.end() ? self : found->second;
  }

  Expr mutate_node(const Let& node, const Expr&) override {
    Expr value = mutate(node.value);
    Expr var = rename(node.var);
    return Let::make(var, std::move(value), mutate(node.body));
  }

  Stmt mutate_node(const LetStmt& node, const Stmt&) override {
    Expr value = mutate(node.value);
    Expr var = rename(node.var);
    return LetStmt::make(var, std::move(value), mutate(node.body));
  }

  Stmt mutate_node(const For& node, const Stmt&) override {
    Expr min = mutate(node.min);
    Expr extent = mutate(node.extent);
    Expr var = rename(node.var);
    return For::make(var, std::move(min), std::move(extent), node.for_kind, mutate(node.body));
  }

  Stmt mutate_node(const Allocate& node, const Stmt&) override {
    auto copy = std::make_shared<Buffer>(*node.buffer);
    for (Expr& extent : copy->shape) extent = mutate(extent);
    for (Expr& stride : copy->strides) stride = mutate(stride);
    buffers_[node.buffer.get()] = copy;
    return Allocate::make(copy, mutate(node.body), mutate(node.offset), node.workspace);
  }

  BufferRef mutate_buffer(const BufferRef& buffer) override {
    const auto found = buffers_.find(buffer.get());
    return found == buffers_.end() ? buffer : found->second;
  }

 private:
  Expr rename(const Expr& var) {
    Expr copy = Var::make(var.as<Var>()->name, var.type());
    values_[var.get()] = copy;
    return copy;
  }

  Substitution values_;
  std::unordered_map<const Buffer*, BufferRef> buffers_;
};

}  // namespace

ir::Stmt fresh_copy(const ir::Stmt& stmt, ir::Substitution values) { return Copier(std::move(values)).mutate(stmt); }

}  // namespace ferry::passes
