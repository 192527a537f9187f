#include "crosscompile/intrinsics/lower_intrinsics.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"

#include <algorithm>
#include <utility>

namespace ferry::passes {
namespace {

using namespace ir;

// Maximum nesting of rules that use other intrinsics; deeper nesting indicates recursion.
constexpr int kMaxNesting = 32;

bool fits(const IntrinsicRule& rule, const Target& target) {
  return (rule.arch.empty() || rule.arch == target.arch_name) &&
         std::all_of(rule.features.begin(), rule.features.end(),
                     [&](const std::string& feature) { return target.has(feature); });
}

std::string describe(const IntrinsicRule& rule) {
  std::string text = rule.arch.empty() ? "any target" : rule.arch;
  for (std::size_t i = 0; i < rule.features.size(); ++i) text += (i == 0 ? " with " : ", ") + rule.features[i];
  return text;
}

std::string no_rule(const std::string& name, std::span<const IntrinsicRule> rules, const Target& target) {
  std::string text =
      "intrinsic '" + name + "': expected a rule for " + (target.text.empty() ? target.arch_name : target.text);
  if (rules.empty()) return text + ", got none for any target";
  text += ", got rules for ";
  for (std::size_t i = 0; i < rules.size(); ++i) text += (i == 0 ? "" : "; ") + describe(rules[i]);
  return text;
}

class IntrinsicLowerer : public Mutator {
 public:
  IntrinsicLowerer(const Context& context, const Target& target, int nesting)
      : context_(context), target_(target), nesting_(nesting) {}

  Expr lower(const Call& call) {
    const std::span<const IntrinsicRule> rules = context_.rules(to_text(call.callee));
    const IntrinsicRule* best = nullptr;
    for (const IntrinsicRule& rule : rules) {
      if (fits(rule, target_) && (best == nullptr || rule.priority >= best->priority)) best = &rule;
    }
    if (best == nullptr) throw CompileError(no_rule(to_text(call.callee), rules, target_));
    const Expr result = best->lower({call.arguments, call.type, target_});
    const std::string who = "the rule of intrinsic '" + to_text(call.callee) + "' for " + describe(*best);
    if (!result.defined() || result.type() != call.type) {
      throw CompileError(who + ": expected an expression of type " + to_text(call.type) + ", got " +
                         (result.defined() ? to_text(result.type()) : "nothing"));
    }
    // A rule for a function of math.def that returns a call of it refers to the built-in function.
    const auto* same = result.as<Call>();
    if (same != nullptr && same->callee == call.callee && call.callee.op == CallOp::math) return result;
    if (nesting_ >= kMaxNesting) throw CompileError(who + " leads back to itself");
    return IntrinsicLowerer(context_, target_, nesting_ + 1).mutate(result);
  }

 protected:
  using Mutator::mutate_node;

  Expr mutate_node(const Call& node, const Expr& self) override {
    const Expr inner = Mutator::mutate_node(node, self);
    if (!lowers(context_, node.callee)) return inner;
    return lower(*inner.as<Call>());
  }

 private:
  const Context& context_;
  const Target& target_;
  int nesting_;
};

}  // namespace

Expr lower(const Context& context, const Call& call, const Target& target) {
  return IntrinsicLowerer(context, target, 0).lower(call);
}

Function lower_intrinsics(Function function, const Target& target) {
  if (function.context != nullptr) {
    function.body = IntrinsicLowerer(*function.context, target, 0).mutate(function.body);
  }
  return function;
}

Expr lower_intrinsics(const Expr& expr, const Context& context, const Target& target) {
  return IntrinsicLowerer(context, target, 0).mutate(expr);
}

}  // namespace ferry::passes
