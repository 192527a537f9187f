// Turns the body of one vectorized loop into vector operations: the part of vectorize that works below the loop.
#pragma once

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/vector/lane_analysis.h"
#include "ferry/target/target.h"

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace ferry::passes {

// A loop over var in [min, min + lanes), lanes >= 2.
struct LaneLoop {
  ir::Expr var, min;
  std::uint32_t lanes;
};

class LaneMutator : public ir::Mutator {
 public:
  // `assumptions` describes the body, and never includes the condition behind a mask. Elements of `inputs` may be read
  // at any time.
  LaneMutator(const Target& target, const std::unordered_set<const ir::Buffer*>& inputs, LaneLoop loop,
              LaneAnalysis analysis, Assumptions& assumptions);

  // Statements without a vector form become serial loops over the lanes.
  ir::Stmt vectorize(const ir::Stmt& body);

 protected:
  using Mutator::mutate_node;
  ir::Expr mutate_node(const ir::Var& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Binary& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Select& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::IfThenElse& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Load& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Call& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Let& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Ramp& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Broadcast& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::VectorReduce& node, const ir::Expr& self) override;
  ir::Stmt mutate_node(const ir::Store& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::For& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::Block& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::If& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::Allocate& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::LetStmt& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::Assert& node, const ir::Stmt& self) override;
  ir::Stmt mutate_node(const ir::Evaluate& node, const ir::Stmt& self) override;

 private:
  // A buffer private to an iteration, and the buffer for all lanes that replaces it.
  struct Private {
    ir::BufferRef wide;
    ir::Expr mask;  // the active mask at its allocation
  };

  ir::Stmt or_scalar(const ir::Stmt& stmt);
  ir::Stmt scalar_loop(const ir::Stmt& stmt);
  ir::Stmt reduce(const ir::Store& node, ir::ReduceOp op);
  ir::Stmt masked(const ir::Stmt& stmt, const ir::Expr& mask);
  ir::Expr masked(const ir::Expr& expr, const ir::Expr& mask);
  std::vector<ir::Expr> private_indices(const std::vector<ir::Expr>& indices);
  bool in_bounds(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices);
  const Private* find_private(const ir::BufferRef& buffer) const;
  ir::Expr combined_with(const ir::Expr& mask) const;

  const Target& target_;
  const std::unordered_set<const ir::Buffer*>& inputs_;
  LaneLoop loop_;
  LaneAnalysis analysis_;
  Assumptions& assumptions_;     // holds in every lane, in terms of the scalar loop
  ir::Substitution vectors_;     // variables that differ between lanes
  std::size_t vector_lets_ = 0;  // number of those that an enclosing LetStmt defines
  std::unordered_map<const ir::Buffer*, Private> private_;
  ir::Expr mask_;  // lanes that execute the current place; nothing: all
};

}  // namespace ferry::passes
