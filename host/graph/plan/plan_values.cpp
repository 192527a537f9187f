#include "host/graph/plan/plan_values.h"

#include "crosscompile/ir/error.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {
namespace {

// Whether the code computes one constant: a single instruction that pushes it.
bool is_constant(std::span<const ManifestInstruction> code) {
  return code.size() == 1 && code.front().op == ManifestOp::constant;
}

bool is(std::span<const ManifestInstruction> code, std::int64_t value) {
  return is_constant(code) && code.front().value == value;
}

// Appends a multiplication of the last two operands.
void multiply(std::vector<ManifestInstruction>& code) {
  const ManifestInstruction factor = code.back();
  if (factor.op == ManifestOp::constant) {
    if (factor.value == 1) return code.pop_back();
    const std::size_t size = code.size();
    const bool has_factor =
        size > 3 && code[size - 2].op == ManifestOp::mul && code[size - 3].op == ManifestOp::constant;
    if (std::int64_t product = 0; has_factor && !__builtin_mul_overflow(code[size - 3].value, factor.value, &product)) {
      code.pop_back();
      code[size - 3].value = product;
      return;
    }
  }
  code.push_back({ManifestOp::mul, 0});
}

// Returns where the operand begins that ends at `end`.
std::size_t begin_of(std::span<const ManifestInstruction> code, std::size_t end) {
  int missing = 1;
  std::size_t begin = end;
  while (missing > 0) missing += manifest_arity(code[--begin].op) - 1;
  return begin;
}

}  // namespace

std::vector<ManifestTerm> terms_of(const ManifestExpr& expr) {
  std::vector<ManifestTerm> terms;
  std::vector<std::span<const ManifestInstruction>> open{expr.code};
  while (!open.empty()) {
    const std::span<const ManifestInstruction> code = open.back();
    open.pop_back();
    const std::size_t last = code.size() - 1;
    const auto operands = [&] {
      const std::size_t middle = begin_of(code, last);
      return std::pair(code.first(middle), code.subspan(middle, last - middle));
    };
    if (code[last].op == ManifestOp::add) {
      const auto [left, right] = operands();
      open.push_back(right);
      open.push_back(left);
    } else if (is_constant(code)) {
      terms.push_back({{}, code[0].value});
    } else if (code[last].op == ManifestOp::mul && is_constant(operands().second)) {
      const auto [left, right] = operands();
      terms.push_back({{{left.begin(), left.end()}}, right[0].value});
    } else {
      terms.push_back({{{code.begin(), code.end()}}, 1});
    }
  }
  return terms;
}

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
    } else if (instruction.op == ManifestOp::mul) {
      // Constant factors come last, as one.
      if (is_constant(part(1)))
        std::rotate(code.begin() + static_cast<std::ptrdiff_t>(first),
                    code.begin() + static_cast<std::ptrdiff_t>(first) + 1, code.end());
      multiply(code);
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
  if (loop_values_.contains(value)) throw InternalError("a value of the plan depends on a loop value");
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

ValueIndex PlanValues::add_loop_value(ValueIndex first) {
  if (first == kNoValue) first = constant(0);
  const auto index = static_cast<ValueIndex>(guesses_.size());
  plan_.values.push_back(manifest_symbol(first));
  guesses_.push_back(guesses_[first]);
  loop_values_.insert(index);
  return index;
}

std::optional<std::int64_t> PlanValues::constant_of(ValueIndex value) const {
  if (value == kNoValue) return 0;
  if (value < symbols_) return std::nullopt;
  return graph::constant_of(plan_.values[value - symbols_]);
}

}  // namespace ferry::graph
