// The facts that hold at a pass's current position in a function, updated on the way down the tree: cheaper than
// passing simplify() and can_prove() a list of facts each time.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/passes/simplify/rules.h"

#include <functional>
#include <span>

namespace ferry::passes {

class Assumptions {
 public:
  // Starts with the facts that hold everywhere in the function.
  explicit Assumptions(const ir::Function& function);
  // Starts with these facts (bool expressions), each simplified under those before it.
  explicit Assumptions(std::span<const ir::Expr> facts);

  ir::Expr simplify(const ir::Expr& expr) { return simplifier_.mutate(expr); }
  bool proves(const ir::Expr& condition);
  // Whether the variable may be any number of 64 bits, or so large that arithmetic with it may wrap.
  bool is_data(const ir::Expr& var);

  // Scopes must end in the reverse order of their construction. Inside a loop there is at least one iteration.
  class Loop {
   public:
    Loop(Assumptions& assumptions, const ir::Expr& var, const ir::Expr& min, const ir::Expr& extent);

   private:
    analysis::Facts::Scope scope_;
  };
  class Let {
   public:
    Let(Assumptions& assumptions, const ir::Expr& var, const ir::Expr& value);

   private:
    analysis::Facts::Scope scope_;
  };
  class ScopedAssumption {
   public:
    ScopedAssumption(Assumptions& assumptions, const ir::Expr& condition, bool truth = true);
    ScopedAssumption(Assumptions& assumptions, std::span<const ir::Expr> conditions);

   private:
    analysis::Facts::Scope scope_;
  };

 private:
  simplifier::ExprSimplifier simplifier_;
};

// Returns the If with both sides rewritten, each while the assumptions include the condition's outcome, under an
// equivalent condition. A side may become nothing, and so may the If; `self` is returned if nothing changed.
ir::Stmt rewrite_sides(const ir::If& node, const ir::Stmt& self, const ir::Expr& condition, Assumptions& assumptions,
                       const std::function<ir::Stmt(const ir::Stmt&)>& rewrite);

}  // namespace ferry::passes
