#include "host/lang/text/guards.h"

#include "crosscompile/ir/mutator.h"
#include "host/lang/stages.h"

namespace ferry::lang {
namespace {

class Unguard : public ir::Mutator {
 public:
  explicit Unguard(const std::unordered_set<const ir::ExprNode*>& safe) : safe_(safe) {}

 protected:
  using Mutator::mutate_node;
  Expr mutate_node(const ir::IfThenElse& node, const Expr& self) override {
    const Expr inner = Mutator::mutate_node(node, self);
    for (const Expr& side : {node.on_true, node.on_false}) {
      for (const ir::Load* load : loads_of(side)) {
        if (!safe_.contains(load)) return inner;
      }
    }
    const auto& choice = *inner.as<ir::IfThenElse>();
    return ir::Select::make(choice.condition, choice.on_true, choice.on_false);
  }

 private:
  const std::unordered_set<const ir::ExprNode*>& safe_;
};

}  // namespace

Expr without_needless_guards(const Expr& value, const std::unordered_set<const ir::ExprNode*>& safe) {
  return Unguard(safe).mutate(value);
}

}  // namespace ferry::lang
