// The values of a plan while it is composed. Arithmetic on constants is done at once.
#pragma once

#include "module/manifest.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ferry::graph {

using ValueOf = std::function<ManifestExpr(std::uint32_t symbol)>;
// Returns the expression with symbols replaced by their values, and with constant operations computed. Throws
// CompileError, which names `what`, for an expression that is longer than a manifest allows.
ManifestExpr substitute(const ManifestExpr& expr, const ValueOf& value_of, const std::string& what);
// A part of a sum: an expression times a number. Without code it is the number itself.
struct ManifestTerm {
  ManifestExpr expr;
  std::int64_t factor = 1;
};
// Returns the terms whose sum is an expression that substitute() returned.
std::vector<ManifestTerm> terms_of(const ManifestExpr& expr);
// Returns the number if the expression is a constant.
std::optional<std::int64_t> constant_of(const ManifestExpr& expr);

class PlanValues {
 public:
  // `guesses` are likely values of the symbols.
  PlanValues(Plan& plan, std::vector<std::int64_t> guesses);

  // Returns the value of an expression over symbols and earlier values.
  ValueIndex add(const ManifestExpr& expr);
  // The same for an expression in which symbol i is values[i].
  ValueIndex add(const ManifestExpr& expr, std::span<const ValueIndex> values);
  // kNoValue is 0.
  ValueIndex add(ManifestOp op, ValueIndex left, ValueIndex right);
  ValueIndex constant(std::int64_t value) { return add(manifest_constant(value)); }
  // Returns a further value that is this one before a repeat. No expression may refer to it.
  ValueIndex add_loop_value(ValueIndex first);
  // Returns the value as an offset, which is kNoValue if it is 0.
  ValueIndex as_offset(ValueIndex value) const { return constant_of(value) == 0 ? kNoValue : value; }

  std::optional<std::int64_t> constant_of(ValueIndex value) const;
  // Returns what the value is for the likely sizes.
  std::int64_t guess(ValueIndex value) const { return value == kNoValue ? 0 : guesses_[value]; }

 private:
  // Returns the value as an operand of an expression.
  ManifestExpr operand(ValueIndex value) const;

  Plan& plan_;
  std::size_t symbols_;
  std::vector<std::int64_t> guesses_;
  std::set<ValueIndex> loop_values_;
};

}  // namespace ferry::graph
