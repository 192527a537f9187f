#include "crosscompile/passes/tensorize/tensorize_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/dot_nest.h"
#include "crosscompile/passes/tensorize/tensor_core.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>

namespace ferry::passes {
namespace {

using namespace ir;

// Returns a call of the function on the nest's operands; nothing, and the reason in `mismatch`, when the nest differs.
std::optional<Stmt> call_for(const NestFunction& function, const LoopNest& nest, std::string& mismatch) {
  const Function& definition = *function.definition;
  const auto match =
      match_nest(definition, nest, [&](NestMatch& found) { return check_strides(definition, found); }, mismatch);
  if (!match) return std::nullopt;
  std::vector<Expr> arguments;
  Substitution symbols;
  for (std::size_t i = 0; i < definition.symbols.size(); ++i) symbols[definition.symbols[i].get()] = match->symbols[i];
  for (const NestMatch::Operand& operand : match->operands) {
    // The start of the parameter, which need not be the position of its first use.
    const Expr start = operand.got.base - substitute(operand.expected.base, symbols);
    arguments.push_back(address_of(operand.buffer, {simplify(start)}));
  }
  for (const Expr& symbol : match->symbols) arguments.push_back(symbol);
  Stmt call = make_extern_call(function.symbol, std::move(arguments));
  for (const Expr& condition : match->conditions) call = If::make(condition, std::move(call));
  return call;
}

const TensorIntrinsic* find(const std::string& name, const Context* context) {
  return context == nullptr ? nullptr : context->tensor_intrinsic(name);
}

}  // namespace

std::vector<std::string> tensor_intrinsic_names(const Context* context) {
  std::vector<std::string> names = dot_names();
  for (const std::string& name : instruction_names()) names.push_back(name);
  if (context == nullptr) return names;
  for (const std::string& name : context->tensor_intrinsic_names()) names.push_back(name);
  return names;
}

bool is_instruction(const std::string& intrinsic) { return find_instruction(intrinsic).has_value(); }

bool has_lanes(const std::string& intrinsic, const Context* context) {
  return find(intrinsic, context) == nullptr && find_instruction(intrinsic) != Instruction::mma_m16n8k16;
}

std::string check_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest) {
  const TensorIntrinsic* own = find(intrinsic, context);
  if (own == nullptr) return check_dot(intrinsic, nest);
  std::string mismatch;
  match_nest(*own->update.definition, nest, [](NestMatch&) { return std::string(); }, mismatch);
  return mismatch;
}

Stmt tensorize_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest) {
  const TensorIntrinsic* own = find(intrinsic, context);
  if (own == nullptr) return dot_of(intrinsic, nest);
  std::string mismatch;
  if (auto call = call_for(own->update, nest, mismatch)) return *call;
  throw CompileError(mismatch);
}

Stmt reset_nest(const std::string& intrinsic, const Context* context, const LoopNest& nest) {
  const TensorIntrinsic* own = find(intrinsic, context);
  if (own == nullptr || !own->reset) return {};
  std::string mismatch;
  return call_for(*own->reset, nest, mismatch).value_or(Stmt());
}

}  // namespace ferry::passes
