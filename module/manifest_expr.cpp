#include "module/manifest_expr.h"

#include <algorithm>
#include <array>
#include <limits>

namespace ferry {
namespace {

const char* op_name(ManifestOp op) {
  switch (op) {
#define FERRY_CASE(tag, name) \
  case ManifestOp::name: return #name;
    FERRY_MANIFEST_OPS(FERRY_CASE)
#undef FERRY_CASE
  }
  return "unknown";
}

Status refuse(std::size_t index, const std::string& reason) {
  return Status(ErrorCode::invalid_argument, "instruction " + std::to_string(index) + " of an expression: " + reason);
}

constexpr const char* kOverflow = "a result does not fit into 64 bits";

// Applies an operation to its one to three operands. Returns null, or the reason why there is no result.
const char* apply(ManifestOp op, const std::int64_t* operands, std::int64_t& result) {
  const std::int64_t a = operands[0];
  const std::int64_t b = manifest_arity(op) > 1 ? operands[1] : 0;
  switch (op) {
    case ManifestOp::constant:
    case ManifestOp::symbol: break;
    case ManifestOp::add: return __builtin_add_overflow(a, b, &result) ? kOverflow : nullptr;
    case ManifestOp::sub: return __builtin_sub_overflow(a, b, &result) ? kOverflow : nullptr;
    case ManifestOp::mul: return __builtin_mul_overflow(a, b, &result) ? kOverflow : nullptr;
    case ManifestOp::floordiv:
      if (b == 0) return "division by zero";
      if (b == -1) return __builtin_sub_overflow(std::int64_t{0}, a, &result) ? kOverflow : nullptr;
      result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      return nullptr;
    case ManifestOp::floormod:
      if (b == 0) return "division by zero";
      if (b == -1) return result = 0, nullptr;
      result = a % b;
      if (result != 0 && (result < 0) != (b < 0)) result += b;
      return nullptr;
    case ManifestOp::min: return result = std::min(a, b), nullptr;
    case ManifestOp::max: return result = std::max(a, b), nullptr;
    case ManifestOp::eq: return result = a == b, nullptr;
    case ManifestOp::ne: return result = a != b, nullptr;
    case ManifestOp::lt: return result = a < b, nullptr;
    case ManifestOp::le: return result = a <= b, nullptr;
    case ManifestOp::logical_and: return result = a != 0 && b != 0, nullptr;
    case ManifestOp::logical_or: return result = a != 0 || b != 0, nullptr;
    case ManifestOp::logical_not: return result = a == 0, nullptr;
    case ManifestOp::select: return result = a != 0 ? b : operands[2], nullptr;
  }
  return "not an operation";
}

// Walks the code and calls step with each instruction and the stack depth before it. Checking and evaluation share this
// walk, so neither can accept what the other refuses.
template <class Step>
Status walk(const ManifestExpr& expr, std::size_t symbol_count, Step step) {
  const std::size_t count = expr.code.size();
  if (count == 0 || count > kMaxManifestInstructions) {
    return Status(ErrorCode::invalid_argument, "expected an expression of 1 to " +
                                                   std::to_string(kMaxManifestInstructions) + " instructions, got " +
                                                   std::to_string(count));
  }
  std::size_t depth = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ManifestInstruction& instruction = expr.code[i];
    const int arity = manifest_arity(instruction.op);
    if (arity < 0) {
      return refuse(i, "expected a known operation, got " + std::to_string(static_cast<unsigned>(instruction.op)));
    }
    if (depth < static_cast<std::size_t>(arity)) {
      return refuse(i, std::string(op_name(instruction.op)) + ": expected " + std::to_string(arity) +
                           " operands, got " + std::to_string(depth));
    }
    if (instruction.op == ManifestOp::symbol &&
        (instruction.value < 0 || static_cast<std::uint64_t>(instruction.value) >= symbol_count)) {
      return refuse(
          i, "expected a symbol below " + std::to_string(symbol_count) + ", got " + std::to_string(instruction.value));
    }
    if (arity > 0 && instruction.value != 0) {
      return refuse(
          i, std::string(op_name(instruction.op)) + ": expected value 0, got " + std::to_string(instruction.value));
    }
    FERRY_TRY(step(instruction, depth));
    depth = depth - static_cast<std::size_t>(arity) + 1;
    if (depth > kMaxManifestStack) {
      return refuse(i, "expected a stack of at most " + std::to_string(kMaxManifestStack) + " values");
    }
  }
  if (depth != 1) {
    return refuse(count - 1, "expected exactly one result at the end, got " + std::to_string(depth));
  }
  return Status();
}

}  // namespace

int manifest_arity(ManifestOp op) {
  switch (op) {
    case ManifestOp::constant:
    case ManifestOp::symbol: return 0;
    case ManifestOp::logical_not: return 1;
    case ManifestOp::add:
    case ManifestOp::sub:
    case ManifestOp::mul:
    case ManifestOp::floordiv:
    case ManifestOp::floormod:
    case ManifestOp::min:
    case ManifestOp::max:
    case ManifestOp::eq:
    case ManifestOp::ne:
    case ManifestOp::lt:
    case ManifestOp::le:
    case ManifestOp::logical_and:
    case ManifestOp::logical_or: return 2;
    case ManifestOp::select: return 3;
  }
  return -1;
}

ManifestExpr manifest_constant(std::int64_t value) { return {{{ManifestOp::constant, value}}}; }

ManifestExpr manifest_symbol(std::uint32_t index) { return {{{ManifestOp::symbol, std::int64_t{index}}}}; }

ManifestExpr manifest_apply(ManifestOp op, std::initializer_list<ManifestExpr> operands) {
  ManifestExpr expr;
  for (const ManifestExpr& operand : operands) {
    expr.code.insert(expr.code.end(), operand.code.begin(), operand.code.end());
  }
  expr.code.push_back({op, 0});
  return expr;
}

Status check_manifest_expr(const ManifestExpr& expr, std::size_t symbol_count) {
  return walk(expr, symbol_count, [](const ManifestInstruction&, std::size_t) { return Status(); });
}

Result<std::int64_t> evaluate(const ManifestExpr& expr, std::span<const std::int64_t> symbols) {
  // Fast path: nearly every size is a single symbol or constant.
  if (expr.code.size() == 1) {
    const ManifestInstruction& only = expr.code.front();
    if (only.op == ManifestOp::constant) return only.value;
    const auto index = static_cast<std::uint64_t>(only.value);
    if (only.op == ManifestOp::symbol && index < symbols.size()) return symbols[static_cast<std::size_t>(index)];
  }
  // One element more than the limit, which is checked after the push.
  std::array<std::int64_t, kMaxManifestStack + 1> stack{};
  const auto step = [&](const ManifestInstruction& instruction, std::size_t depth) {
    if (instruction.op == ManifestOp::constant) {
      stack[depth] = instruction.value;
    } else if (instruction.op == ManifestOp::symbol) {
      stack[depth] = symbols[static_cast<std::size_t>(instruction.value)];
    } else {
      std::int64_t* operands = &stack[depth - static_cast<std::size_t>(manifest_arity(instruction.op))];
      // Who evaluates it prints the expression, which says more to a user than the number of an instruction.
      if (const char* reason = apply(instruction.op, operands, *operands))
        return Status(ErrorCode::invalid_argument, reason);
    }
    return Status();
  };
  FERRY_TRY(walk(expr, symbols.size(), step));
  return stack[0];
}

}  // namespace ferry
