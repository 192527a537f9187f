// Integer expressions over a function's symbols (sizes, workspaces, preconditions), small enough for a device to
// evaluate and strict enough to take from a stranger: postfix over int64, capped, every overflow an error.
#pragma once

#include "rpc/base/status.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace ferry {

// Division and modulo floor. Comparisons and logic give 0 or 1. select takes condition, then, else (all evaluated).
#define FERRY_MANIFEST_OPS(X) \
  X(1, constant)              \
  X(2, symbol)                \
  X(3, add)                   \
  X(4, sub)                   \
  X(5, mul)                   \
  X(6, floordiv)              \
  X(7, floormod)              \
  X(8, min)                   \
  X(9, max)                   \
  X(10, eq)                   \
  X(11, ne)                   \
  X(12, lt)                   \
  X(13, le)                   \
  X(14, logical_and)          \
  X(15, logical_or)           \
  X(16, logical_not)          \
  X(17, select)

enum class ManifestOp : std::uint8_t {
#define FERRY_ENUM(tag, name) name = tag,
  FERRY_MANIFEST_OPS(FERRY_ENUM)
#undef FERRY_ENUM
};

struct ManifestInstruction {
  ManifestOp op = ManifestOp::constant;
  std::int64_t value = 0;  // the constant, or the index of the symbol; 0 otherwise
  bool operator==(const ManifestInstruction&) const = default;
};

inline constexpr std::size_t kMaxManifestInstructions = 256;
inline constexpr std::size_t kMaxManifestStack = 32;

struct ManifestExpr {
  std::vector<ManifestInstruction> code;
  bool operator==(const ManifestExpr&) const = default;
};

// The operands an operation takes; -1 for a number that is no operation.
int manifest_arity(ManifestOp op);

ManifestExpr manifest_constant(std::int64_t value);
ManifestExpr manifest_symbol(std::uint32_t index);
// The operation over its operands: two of most, one of logical_not, three of select.
ManifestExpr manifest_apply(ManifestOp op, std::initializer_list<ManifestExpr> operands);

// Well-formed: known ops, stack never under- or overflows, exactly one result, symbols below symbol_count.
Status check_manifest_expr(const ManifestExpr& expr, std::size_t symbol_count);

// invalid_argument on overflow, division by zero, or an expression check_manifest_expr refuses.
Result<std::int64_t> evaluate(const ManifestExpr& expr, std::span<const std::int64_t> symbols);

// As a person writes it, in infix: "(n + 1) * 4".
std::string to_text(const ManifestExpr& expr, std::span<const std::string> symbol_names);

}  // namespace ferry
