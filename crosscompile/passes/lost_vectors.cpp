#include "crosscompile/passes/lost_vectors.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/pipeline.h"
#include "ferry/operators.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

// Identifies a statement across the passes: the buffer that it stores to, and the buffers that it reads for that.
struct Stored {
  std::string buffer;
  std::set<std::string> reads;

  bool is_part_of(const Stored& other) const {
    return buffer == other.buffer && std::includes(other.reads.begin(), other.reads.end(), reads.begin(), reads.end());
  }
};

Stored stored_by(const Store& node) {
  Stored stored{node.buffer->name, {}};
  analysis::for_each_load(node.value, [&](const Load& load) { stored.reads.insert(load.buffer->name); });
  return stored;
}

struct VectorLoop {
  std::string name;
  Expr var;
  std::vector<Stored> stores;  // at indices that differ between the loop's iterations
};

class VectorLoops : public Visitor {
 public:
  std::vector<VectorLoop> loops;

 protected:
  using Visitor::visit_node;

  void visit_node(const For& node) override {
    const bool vectorized = node.for_kind == ForKind::vectorized && !is_constant(node.extent, 1);
    if (vectorized) around_.push_back({node.var.as<Var>()->name, node.var, {}});
    Visitor::visit_node(node);
    if (!vectorized) return;
    loops.push_back(std::move(around_.back()));
    around_.pop_back();
  }

  // A buffer that is allocated inside of the loop is private to each iteration, which counts as a different index.
  void visit_node(const Allocate& node) override {
    for (const VectorLoop& loop : around_) own_[node.buffer->name].insert(loop.var.get());
    Visitor::visit_node(node);
  }

  void visit_node(const Store& node) override {
    for (VectorLoop& loop : around_) {
      const auto own = own_.find(node.buffer->name);
      const bool differs = (own != own_.end() && own->second.contains(loop.var.get())) ||
                           std::any_of(node.indices.begin(), node.indices.end(),
                                       [&](const Expr& index) { return uses_var(index, loop.var); });
      if (differs) loop.stores.push_back(stored_by(node));
    }
    Visitor::visit_node(node);
  }

 private:
  std::vector<VectorLoop> around_;
  std::map<std::string, std::set<const ExprNode*>> own_;
};

class Stores : public Visitor {
 public:
  std::vector<Stored> vectors, scalars;

 protected:
  using Visitor::visit_node;

  void visit_node(const Store& node) override {
    (node.value.type().is_vector() ? vectors : scalars).push_back(stored_by(node));
    Visitor::visit_node(node);
  }
};

Function vectorized(Function function, const Target& target) {
  for (const Pass& pass : pipeline()) {
    function = run_pass(pass, std::move(function), target);
    if (pass.name == "vectorize") break;
  }
  return function;
}

}  // namespace

std::vector<std::string> lost_vectors(const Function& lowered, const Target& target) {
  if (!target.pass_groups.loops || !lowered.body.defined()) return {};
  VectorLoops wanted;
  wanted.visit(lowered.body);
  if (wanted.loops.empty()) return {};
  Stores made;
  if (const Function function = vectorized(lowered, target); function.body.defined()) made.visit(function.body);
  const auto contains = [](const std::vector<Stored>& all, const Stored& one) {
    return std::any_of(all.begin(), all.end(), [&](const Stored& other) { return one.is_part_of(other); });
  };
  std::vector<std::string> lost;
  for (const VectorLoop& loop : wanted.loops) {
    const bool is_lost = std::any_of(loop.stores.begin(), loop.stores.end(), [&](const Stored& store) {
      return contains(made.scalars, store) && !contains(made.vectors, store);
    });
    if (is_lost && std::find(lost.begin(), lost.end(), loop.name) == lost.end()) lost.push_back(loop.name);
  }
  return lost;
}

}  // namespace ferry::passes
