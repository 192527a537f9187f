// The simplifier's rewriting, shared by its two halves: expressions and statements.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/ir/mutator.h"
#include "crosscompile/passes/simplify_facts.h"

#include <optional>

namespace ferry::passes::simplifier {

class ExprSimplifier : public ir::Mutator {
 public:
  Facts facts;

 protected:
  ir::Expr mutate_node(const ir::Var& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Cast& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Unary& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Binary& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Select& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::IfThenElse& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Load& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Reduce& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Let& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Ramp& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::Broadcast& node, const ir::Expr& self) override;
  ir::Expr mutate_node(const ir::VectorReduce& node, const ir::Expr& self) override;
  using ir::Mutator::mutate_node;

  // `expr` simplified where `condition` is true (or false).
  ir::Expr mutate_given(const ir::Expr& expr, const ir::Expr& condition, bool truth);

 private:
  ir::Expr logic(const ir::Binary& node, const ir::Expr& self);
  ir::Expr data_operation(const ir::Binary& node, const ir::Expr& self);
  ir::Expr comparison(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);

  // Index arithmetic (simplify_index.cpp). `unchanged` is what to return when nothing better is found.
  ir::Expr linear(const ir::Expr& expr);
  ir::Expr linear_parts(const ir::Expr& expr);
  ir::Expr shortest(const Polynomial& polynomial, const ir::Expr& unchanged);
  ir::Expr quotient(const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  ir::Expr remainder(const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  ir::Expr extremum(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  ir::Expr index_comparison(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  void drop_idle_bounds(Polynomial& margin);
  bool implied(const ir::Expr& condition, bool truth);
  // Whether the comparison of the two values certainly holds; and whether it does or does not, if that is certain.
  bool proves(ir::BinaryOp op, const Polynomial& left, const Polynomial& right);
  std::optional<bool> decide(ir::BinaryOp op, const Polynomial& left, const Polynomial& right);
  Polynomial normalised(Polynomial polynomial);
  bool recombine(Polynomial& polynomial);

  // left = divisor * quotient + rest, with as much in the quotient as is certain.
  struct Division {
    Polynomial quotient, rest;
  };
  Division divide_by_number(const Polynomial& left, std::int64_t divisor);
  Division divide_by_symbol(const Polynomial& left, const Polynomial& divisor);
  struct Coarse {
    Polynomial quotient, rest;
    std::int64_t step = 1;
  };
  std::optional<Coarse> coarse_part(const Polynomial& polynomial, std::int64_t divisor);
};

// What holds everywhere in a function: sizes are not negative, requirements are met.
void learn_parameters(const ir::Function& function, ExprSimplifier& simplifier);

}  // namespace ferry::passes::simplifier
