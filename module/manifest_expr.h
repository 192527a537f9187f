// Integer expressions over a function's symbols, used for sizes, workspaces and preconditions. They are small enough
// for a device to evaluate and strict enough to accept from an untrusted source: postfix code over int64 of limited
// length, in which every overflow is an error.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace ferry {

// Division and modulo round towards minus infinity. Comparisons and logic return 0 or 1. select takes condition, then,
// else (all are evaluated).
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

// Returns the number of operands of an operation; -1 if the number is not an operation.
int manifest_arity(ManifestOp op);

ManifestExpr manifest_constant(std::int64_t value);
ManifestExpr manifest_symbol(std::uint32_t index);
// Applies the operation to its operands: two for most operations, one for logical_not, three for select.
ManifestExpr manifest_apply(ManifestOp op, std::initializer_list<ManifestExpr> operands);

// Checks that the expression is well-formed: it has only known operations and symbols below symbol_count, its stack
// never under- or overflows, and it leaves exactly one result.
Status check_manifest_expr(const ManifestExpr& expr, std::size_t symbol_count);

// Returns invalid_argument on overflow, on division by zero, and for an expression that check_manifest_expr refuses.
Result<std::int64_t> evaluate(const ManifestExpr& expr, std::span<const std::int64_t> symbols);

// Returns the expression in infix notation: "(n + 1) * 4".
std::string to_text(const ManifestExpr& expr, std::span<const std::string> symbol_names);
// Returns what the symbols of an expression are, for the end of a message: ", got n = 4, m = 6"; nothing without any.
std::string symbols_text(const ManifestExpr& expr, std::span<const std::string> symbol_names,
                         std::span<const std::int64_t> symbols);

}  // namespace ferry
