#include "crosscompile/intrinsics/intrinsics.h"

#include "base/suggest.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/mutator.h"

#include <algorithm>
#include <utility>

namespace ferry {
namespace {

using namespace ir;

// Maximum nesting of rules that use other intrinsics; deeper nesting indicates recursion.
constexpr int kMaxNesting = 32;

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void expect_count(std::size_t expected, std::size_t got) {
  if (expected != got) {
    throw CompileError("expected " + counted(expected, "argument") + ", got " + std::to_string(got));
  }
}

[[noreturn]] void refuse_argument(std::size_t index, const std::string& expected, DType got) {
  throw CompileError("argument " + std::to_string(index + 1) + ": expected " + expected + ", got " + dtype_name(got));
}

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

std::string no_rule(const std::string& name, const std::vector<IntrinsicRule>& rules, const Target& target) {
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

  Expr lower(const Call& call, const std::vector<IntrinsicRule>& rules) {
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
    if (!context_.lowers(node.callee)) return inner;
    return context_.lower(*inner.as<Call>(), target_, nesting_);
  }

 private:
  const Context& context_;
  const Target& target_;
  int nesting_;
};

}  // namespace

IntrinsicTypeRule same_float_types(std::size_t arguments) {
  return [arguments](std::span<const DType> types) {
    expect_count(arguments, types.size());
    if (!is_float(types[0])) refuse_argument(0, "a float", types[0]);
    for (std::size_t i = 1; i < types.size(); ++i) {
      if (types[i] != types[0]) refuse_argument(i, dtype_name(types[0]), types[i]);
    }
    return types[0];
  };
}

IntrinsicTypeRule fixed_types(std::vector<DType> arguments, DType result) {
  return [arguments = std::move(arguments), result](std::span<const DType> types) {
    expect_count(arguments.size(), types.size());
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] != arguments[i]) refuse_argument(i, dtype_name(arguments[i]), types[i]);
    }
    return result;
  };
}

const Context::Intrinsic& Context::find(const std::string& name) const {
  const auto found = intrinsics_.find(name);
  if (found != intrinsics_.end()) return found->second;
  if (intrinsics_.empty()) throw CompileError("unknown intrinsic '" + name + "'; none is registered");
  throw CompileError(unknown_name("intrinsic", name, names()));
}

void Context::add_intrinsic(const std::string& name, IntrinsicTypeRule types) {
  if (name.empty() || !types) throw CompileError("an intrinsic needs a name and a rule for its type");
  if (knows(name)) throw CompileError("intrinsic '" + name + "' is registered already");
  intrinsics_.emplace(name, Intrinsic{std::move(types), {}});
}

void Context::add_rule(const std::string& name, IntrinsicRule rule) {
  find(name);
  if (!rule.lower) throw CompileError("a rule of intrinsic '" + name + "' needs a function that lowers a call");
  intrinsics_.at(name).rules.push_back(std::move(rule));
}

std::vector<std::string> Context::names() const {
  std::vector<std::string> all;
  for (const auto& [name, intrinsic] : intrinsics_) all.push_back(name);
  return all;
}

Expr Context::call(const std::string& name, std::vector<Expr> arguments) const {
  const Intrinsic& intrinsic = find(name);
  std::vector<DType> types;
  std::uint32_t lanes = 1;
  for (const Expr& argument : arguments) {
    types.push_back(argument.type().code);
    lanes = std::max(lanes, argument.type().lanes);
  }
  for (Expr& argument : arguments) {
    if (argument.type().is_scalar()) argument = Broadcast::make(argument, lanes);
  }
  try {
    const std::optional<MathFunction> math = find_math(name);
    const Callee callee = math ? Callee(*math) : Callee::intrinsic(name);
    return Call::make(Type(intrinsic.types(types), lanes), callee, std::move(arguments));
  } catch (const CompileError& error) {
    throw CompileError(name + ": " + error.what());
  }
}

Expr Context::lower(const Call& call, const Target& target, int nesting) const {
  return IntrinsicLowerer(*this, target, nesting).lower(call, find(to_text(call.callee)).rules);
}

namespace passes {

Function lower_intrinsics(Function function, const Target& target) {
  if (function.context != nullptr) {
    function.body = IntrinsicLowerer(*function.context, target, 0).mutate(function.body);
  }
  return function;
}

Expr lower_intrinsics(const Expr& expr, const Context& context, const Target& target) {
  return IntrinsicLowerer(context, target, 0).mutate(expr);
}

}  // namespace passes
}  // namespace ferry
