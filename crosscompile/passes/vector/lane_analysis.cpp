#include "crosscompile/passes/vector/lane_analysis.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ferry::passes {
namespace {

using namespace ir;

struct Access {
  std::vector<Expr> indices;           // with the lets of the body substituted
  std::vector<analysis::Range> loops;  // loops of the body around the access
  const Store* store;                  // null for a load
};

// All accesses to one buffer.
struct Uses {
  std::vector<Access> accesses;
  bool stored = false;
};

std::optional<ReduceOp> reduce_op_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return ReduceOp::sum;
    case BinaryOp::mul: return ReduceOp::prod;
    case BinaryOp::min: return ReduceOp::min;
    case BinaryOp::max: return ReduceOp::max;
    case BinaryOp::logical_or: return ReduceOp::any;
    case BinaryOp::logical_and: return ReduceOp::all;
    default: return std::nullopt;
  }
}

bool loads_same_element(const Expr& value, const Store& store) {
  const auto* load = value.as<Load>();
  return load != nullptr && load->buffer == store.buffer &&
         std::equal(load->indices.begin(), load->indices.end(), store.indices.begin(), store.indices.end(), equal);
}

std::optional<ReduceOp> reduction_of(const Store& store) {
  const auto* combined = store.value.as<Binary>();
  if (combined == nullptr || store.mask.defined()) return std::nullopt;
  if (!loads_same_element(combined->left, store) && !loads_same_element(combined->right, store)) return std::nullopt;
  return reduce_op_of(combined->op);
}

class UseCollector : public Visitor {
 public:
  std::vector<std::pair<const Buffer*, Uses>> uses;  // in order of first use

 protected:
  using Visitor::visit_node;

  void visit_node(const Load& node) override {
    record(node.buffer.get(), node.indices, nullptr);
    Visitor::visit_node(node);
  }
  void visit_node(const Store& node) override {
    record(node.buffer.get(), node.indices, &node);
    Visitor::visit_node(node);
  }
  void visit_node(const For& node) override {
    visit(node.min);
    visit(node.extent);
    loops_.push_back({node.var, substitute(node.min, lets_), substitute(node.extent, lets_)});
    visit(node.body);
    loops_.pop_back();
  }
  void visit_node(const Allocate& node) override {
    private_.insert(node.buffer.get());
    Visitor::visit_node(node);
  }
  void visit_node(const LetStmt& node) override {
    lets_[node.var.get()] = substitute(node.value, lets_);
    Visitor::visit_node(node);
  }
  void visit_node(const Let& node) override {
    lets_[node.var.get()] = substitute(node.value, lets_);
    Visitor::visit_node(node);
  }

 private:
  void record(const Buffer* buffer, const std::vector<Expr>& indices, const Store* store) {
    if (private_.contains(buffer)) return;
    auto found = std::find_if(uses.begin(), uses.end(), [&](const auto& entry) { return entry.first == buffer; });
    if (found == uses.end()) found = uses.insert(uses.end(), {buffer, {}});
    Access access{{}, loops_, store};
    for (const Expr& index : indices) access.indices.push_back(substitute(index, lets_));
    found->second.accesses.push_back(std::move(access));
    found->second.stored |= store != nullptr;
  }

  std::vector<analysis::Range> loops_;
  Substitution lets_;
  std::unordered_set<const Buffer*> private_;
};

class LaneAnalyzer {
 public:
  LaneAnalyzer(const Expr& var, Assumptions& assumptions) : var_(var), assumptions_(assumptions) {}

  // Returns whether the iterations access disjoint ranges of the dimension: every access of iteration v lies in [c * v
  // + r, c * v + r + |c|), with the same c and r for all.
  bool apart(const Uses& uses, std::size_t dimension) const {
    std::optional<analysis::Affine> first;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    for (const Access& access : uses.accesses) {
      if (dimension >= access.indices.size() || !analysis::is_arithmetic(access.indices[dimension])) return false;
      const auto affine = analysis::affine_in(access.indices[dimension], var_);
      if (!affine || affine->coefficient == 0) return false;
      const auto low = analysis::lower_bound(affine->rest, access.loops);
      const auto high = analysis::upper_bound(affine->rest, access.loops);
      if (!low || !high || uses_var(*low, var_) || uses_var(*high, var_)) return false;
      if (!first) first = analysis::Affine{affine->coefficient, *low};
      if (affine->coefficient != first->coefficient) return false;
      const Expr from = assumptions_.simplify(*low - first->rest);
      const Expr to = assumptions_.simplify(*high - first->rest);
      if (as_int(from) == nullptr || as_int(to) == nullptr) return false;
      lowest = std::min(lowest, *as_int(from));
      highest = std::max(highest, *as_int(to));
    }
    return highest - lowest < std::abs(first->coefficient);
  }

  bool apart(const Uses& uses) const {
    const std::size_t rank = uses.accesses[0].indices.size();
    for (std::size_t d = 0; d < rank; ++d) {
      if (apart(uses, d)) return true;
    }
    // Lanes of one vector store that overlap write in lane order, and no other statement accesses the buffer.
    return uses.accesses.size() == 1 && uses.accesses[0].loops.empty() && depends_on_lane(uses.accesses[0]);
  }

  // Returns the operation when all accesses are reductions by a single one into elements that do not depend on the
  // lane.
  std::optional<ReduceOp> shared_reduction(const Uses& uses) const {
    std::optional<ReduceOp> op;
    std::size_t stores = 0;
    for (const Access& access : uses.accesses) {
      if (depends_on_lane(access)) return std::nullopt;
      if (access.store == nullptr) continue;
      const auto own = reduction_of(*access.store);
      if (!own || (op && *op != *own)) return std::nullopt;
      op = own;
      ++stores;
    }
    // Each store accounts for one load.
    return uses.accesses.size() == 2 * stores ? op : std::nullopt;
  }

 private:
  bool depends_on_lane(const Access& access) const {
    return std::any_of(access.indices.begin(), access.indices.end(),
                       [&](const Expr& index) { return !analysis::is_arithmetic(index) || uses_var(index, var_); });
  }

  const Expr& var_;
  Assumptions& assumptions_;
};

}  // namespace

LaneAnalysis analyze_lanes(const Stmt& body, const Expr& var, Assumptions& assumptions) {
  UseCollector collector;
  collector.visit(body);
  const LaneAnalyzer analyzer(var, assumptions);
  LaneAnalysis result;
  result.independent = true;
  for (const auto& [buffer, uses] : collector.uses) {
    if (!uses.stored || analyzer.apart(uses)) continue;
    const auto op = analyzer.shared_reduction(uses);
    if (!op) return {};
    for (const Access& access : uses.accesses) {
      if (access.store != nullptr) result.reductions.emplace(access.store, *op);
    }
  }
  return result;
}

const Expr& reduced_value(const Store& store) {
  const auto& combined = *store.value.as<Binary>();
  return loads_same_element(combined.left, store) ? combined.right : combined.left;
}

}  // namespace ferry::passes
