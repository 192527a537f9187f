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

constexpr std::string_view kDecisive = "vectorize";

VectorStore stored_by(const Store& node) {
  VectorStore stored{node.buffer->name, {}};
  analysis::for_each_load(node.value, [&](const Load& load) { stored.reads.insert(load.buffer->name); });
  return stored;
}

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
  std::vector<VectorStore> vectors, scalars;

 protected:
  using Visitor::visit_node;

  void visit_node(const Store& node) override {
    (node.value.type().is_vector() ? vectors : scalars).push_back(stored_by(node));
    Visitor::visit_node(node);
  }

  // An instruction stores its sums as it does, whatever its definition's loops are.
  void visit_node(const InstructionStmt& node) override {
    if (node.arguments.empty()) Visitor::visit_node(node);
  }
};

}  // namespace

bool VectorStore::is_part_of(const VectorStore& other) const {
  return buffer == other.buffer && std::includes(other.reads.begin(), other.reads.end(), reads.begin(), reads.end());
}

LostVectors::LostVectors(const Function& lowered, const Target& target) {
  if (!target.pass_groups.loops || !lowered.body.defined()) return;
  VectorLoops wanted;
  wanted.visit(lowered.body);
  wanted_ = std::move(wanted.loops);
}

void LostVectors::after(std::string_view pass, const Function& now) {
  if (wanted_.empty() || pass != kDecisive) return;
  is_decided_ = true;
  Stores made;
  if (now.body.defined()) made.visit(now.body);
  const auto contains = [](const std::vector<VectorStore>& all, const VectorStore& one) {
    return std::any_of(all.begin(), all.end(), [&](const VectorStore& other) { return one.is_part_of(other); });
  };
  for (const VectorLoop& loop : wanted_) {
    const bool is_lost = std::any_of(loop.stores.begin(), loop.stores.end(), [&](const VectorStore& store) {
      return contains(made.scalars, store) && !contains(made.vectors, store);
    });
    if (is_lost && std::find(names_.begin(), names_.end(), loop.name) == names_.end()) names_.push_back(loop.name);
  }
}

void LostVectors::run_passes(const Function& lowered, const Target& target) {
  if (wanted_.empty() || is_decided_) return;
  Function function = lowered;
  for (const Pass& pass : pipeline()) {
    function = run_pass(pass, std::move(function), target);
    after(pass.name, function);
    if (pass.name == kDecisive) break;
  }
}

}  // namespace ferry::passes
