#include "host/graph/plan/plan_values.h"

#include "crosscompile/ir/error.h"

namespace ferry::graph {
namespace {

// Whether the code computes one constant: a single instruction that pushes it.
bool is_constant(std::span<const ManifestInstruction> code) {
  return code.size() == 1 && code.front().op == ManifestOp::constant;
}

bool is(std::span<const ManifestInstruction> code, std::int64_t value) {
  return is_constant(code) && code.front().value == value;
}

}  // namespace

ManifestExpr substitute(const ManifestExpr& expr, const ValueOf& value_of, const std::string& what) {
  // The operands on the stack, as positions in the code where each begins.
  std::vector<ManifestInstruction> code;
  std::vector<std::size_t> begins;
  const auto part = [&](std::size_t from_top) {
    const std::size_t at = begins.size() - 1 - from_top;
    return std::span(code).subspan(begins[at], (at + 1 < begins.size() ? begins[at + 1] : code.size()) - begins[at]);
  };
  for (const ManifestInstruction& instruction : expr.code) {
    const int arity = manifest_arity(instruction.op);
    if (arity == 0) {
      begins.push_back(code.size());
      if (instruction.op == ManifestOp::symbol) {
        const ManifestExpr value = value_of(static_cast<std::uint32_t>(instruction.value));
        code.insert(code.end(), value.code.begin(), value.code.end());
      } else {
        code.push_back(instruction);
      }
      continue;
    }
    const std::size_t first = begins[begins.size() - static_cast<std::size_t>(arity)];
    bool all_constant = true;
    for (int operand = 0; operand < arity; ++operand)
      all_constant &= is_constant(part(static_cast<std::size_t>(operand)));
    if (all_constant) {
      ManifestExpr folded{{code.begin() + static_cast<std::ptrdiff_t>(first), code.end()}};
      folded.code.push_back(instruction);
      const Result<std::int64_t> result = evaluate(folded, {});
      if (!result.is_ok()) throw CompileError(what + ": " + result.status().message());
      code.resize(first);
      code.push_back(manifest_constant(result.value()).code.front());
    } else if (instruction.op == ManifestOp::mul && is(part(0), 1)) {
      code.pop_back();
    } else if (instruction.op == ManifestOp::mul && is(part(1), 1)) {
      code.erase(code.begin() + static_cast<std::ptrdiff_t>(first));
    } else if ((instruction.op == ManifestOp::add || instruction.op == ManifestOp::sub) && is(part(0), 0)) {
      code.pop_back();
    } else {
      code.push_back(instruction);
    }
    begins.resize(begins.size() - static_cast<std::size_t>(arity) + 1);
  }
  if (code.size() > kMaxManifestInstructions)
    throw CompileError(what + ": expected an expression of at most " + std::to_string(kMaxManifestInstructions) +
                       " instructions, got " + std::to_string(code.size()));
  return {std::move(code)};
}

std::optional<std::int64_t> constant_of(const ManifestExpr& expr) {
  if (expr.code.empty()) return 0;
  return is_constant(expr.code) ? std::optional(expr.code.front().value) : std::nullopt;
}

PlanValues::PlanValues(Plan& plan, std::vector<std::int64_t> guesses)
    : plan_(plan), symbols_(guesses.size()), guesses_(std::move(guesses)) {}

ManifestExpr PlanValues::operand(ValueIndex value) const {
  const std::optional<std::int64_t> constant = constant_of(value);
  return constant ? manifest_constant(*constant) : manifest_symbol(value);
}

ValueIndex PlanValues::add(const ManifestExpr& expr) {
  ManifestExpr folded = substitute(expr, [this](std::uint32_t value) { return operand(value); }, "a size of the plan");
  const Result<std::int64_t> guess = evaluate(folded, guesses_);
  const ValueIndex index = add_value(plan_, symbols_, std::move(folded));
  if (index == guesses_.size()) guesses_.push_back(guess.is_ok() ? guess.value() : 0);
  return index;
}

ValueIndex PlanValues::add(const ManifestExpr& expr, std::span<const ValueIndex> values) {
  return add(substitute(expr, [&](std::uint32_t symbol) { return operand(values[symbol]); }, "a size of the plan"));
}

ValueIndex PlanValues::add(ManifestOp op, ValueIndex left, ValueIndex right) {
  return add(manifest_apply(op, {operand(left), operand(right)}));
}

std::optional<std::int64_t> PlanValues::constant_of(ValueIndex value) const {
  if (value == kNoValue) return 0;
  if (value < symbols_) return std::nullopt;
  return graph::constant_of(plan_.values[value - symbols_]);
}

}  // namespace ferry::graph
