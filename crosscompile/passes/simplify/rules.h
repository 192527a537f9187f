// The simplifier's rewrite rules, shared by its two halves: expressions and statements.
#pragma once

#include "crosscompile/analysis/facts.h"
#include "crosscompile/ir/function.h"
#include "crosscompile/ir/mutator.h"

#include <optional>

namespace ferry::passes::simplifier {

using namespace analysis;

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

  // Simplifies an expression or a statement where `condition` is true (or false).
  template <class Tree>
  Tree mutate_given(const Tree& tree, const ir::Expr& condition, bool truth) {
    const Facts::Scope scope(facts);
    facts.assume(condition, truth);
    return mutate(tree);
  }

 private:
  ir::Expr logic(const ir::Binary& node, const ir::Expr& self);
  ir::Expr data_operation(const ir::Binary& node, const ir::Expr& self);
  ir::Expr comparison(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);

  // Index arithmetic (index.cpp). `unchanged` is returned when nothing simpler is found.
  ir::Expr linear(const ir::Expr& expr);
  ir::Expr linear_parts(const ir::Expr& expr);
  ir::Expr shortest(const Polynomial& polynomial, const ir::Expr& unchanged);
  ir::Expr quotient(const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  ir::Expr remainder(const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  ir::Expr extremum(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  ir::Expr index_comparison(ir::BinaryOp op, const ir::Expr& left, const ir::Expr& right, const ir::Expr& unchanged);
  void drop_idle_bounds(Polynomial& margin);
  bool implied(const ir::Expr& condition, bool truth);
  // proves() returns whether the comparison of the two values certainly holds; decide() returns its outcome if that is
  // certain.
  bool proves(ir::BinaryOp op, const Polynomial& left, const Polynomial& right);
  std::optional<bool> decide(ir::BinaryOp op, const Polynomial& left, const Polynomial& right);
  Polynomial normalised(Polynomial polynomial);
  bool recombine(Polynomial& polynomial);
  AtomId quotient_beside(const Atom& remainder);
  // Sums of digits (digits.cpp). Each is invalid where nothing is found.
  Polynomial without_digits(const Polynomial& polynomial);
  Polynomial in_quotients(const Polynomial& polynomial, int depth);
  Polynomial digit_in_quotients(AtomId id, int depth);
  Polynomial quotient_by_number(const Polynomial& left, std::int64_t divisor);

  // left = divisor * quotient + rest, with as much as possible in the quotient.
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

// Adds the facts that hold everywhere in a function: sizes are not negative, requirements hold.
void learn_parameters(const ir::Function& function, ExprSimplifier& simplifier);

}  // namespace ferry::passes::simplifier
