// Sizes of a network's tensors: integer expressions over the sizes that the network's inputs leave open, such as batch
// and sequence length.
#pragma once

#include "crosscompile/ir/expr.h"
#include "module/manifest_expr.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ferry::graph {

// An immutable value, cheap to copy. Arithmetic throws CompileError where a size exceeds 2^62 with every symbol at 1,
// or does not fit a manifest.
class Size {
 public:
  Size() : Size(0) {}
  Size(std::int64_t value);
  // A size that an input determines. The same name is the same size. Arithmetic takes it to be at least 1, which calls
  // are checked for unless 0 makes no difference (empty_sizes.h), or at least 0.
  static Size symbol(const std::string& name, bool may_be_zero = false);

  // Returns the number if the size has no symbols.
  std::optional<std::int64_t> constant() const;
  // Returns the names of its symbols in order of first occurrence, each once.
  std::vector<std::string> symbols() const;
  // Returns the expression, whose variables have the names of the symbols. Two sizes may have different variables of
  // one name; substitute() replaces them.
  const ir::Expr& expr() const { return expr_; }

  // Two sizes are equal if they are for all values of the symbols; true only when that is proved.
  friend bool operator==(const Size& a, const Size& b);
  friend Size operator+(const Size& a, const Size& b);
  friend Size operator-(const Size& a, const Size& b);
  friend Size operator*(const Size& a, const Size& b);
  // Rounds towards minus infinity. The divisor is not 0.
  friend Size floor_divide(const Size& a, const Size& b);
  friend Size min(const Size& a, const Size& b);
  friend Size max(const Size& a, const Size& b);

 private:
  using Names = std::shared_ptr<const std::set<std::string>>;
  Size(ir::Expr expr, Names from_zero) : expr_(std::move(expr)), from_zero_(std::move(from_zero)) {}
  // Returns the symbols that may be 0 in either of the sizes.
  static Names united(const Size& a, const Size& b);
  static Size combined(ir::BinaryOp op, const Size& a, const Size& b);
  static bool proves(const Size& a, const Size& b, ir::BinaryOp comparison);
  friend bool proves_different(const Size& a, const Size& b);
  friend bool proves_less(const Size& a, const Size& b);
  friend std::optional<Size> divide_exactly(const Size& whole, const Size& part);
  friend Size substitute(const Size& size, const std::string& symbol, const Size& value);

  ir::Expr expr_;    // simplified
  Names from_zero_;  // the symbols that may be 0; null: none
};

Size floor_divide(const Size& a, const Size& b);
Size min(const Size& a, const Size& b);
Size max(const Size& a, const Size& b);
// Returns a / b rounded towards zero. The divisor is greater than 0.
Size divide_towards_zero(const Size& a, const Size& b);

using Shape = std::vector<Size>;

// Return true only when it is so for all values of the symbols.
bool proves_different(const Size& a, const Size& b);
bool proves_less(const Size& a, const Size& b);
// Returns the one of two sizes, equal in all calls, that is easier to compute with: a number, else the shorter
// expression.
const Size& simpler(const Size& a, const Size& b);
// Returns whether `whole` is a multiple of `part`, and the factor if so.
std::optional<Size> divide_exactly(const Size& whole, const Size& part);
// Returns the product of the sizes; 1 for a scalar.
Size element_count(const Shape& shape);
// Return a text such as "N*3" or "[N,3,224,224]".
std::string to_text(const Size& size);
std::string to_text(const Shape& shape);
// Returns the expression with the symbols of these names replaced.
ir::Expr substitute(const Size& size, const std::map<std::string, ir::Expr>& values);
// Returns the size where the symbol has this value.
Size substitute(const Size& size, const std::string& symbol, const Size& value);
// Returns the size in the form of a manifest; its symbols are numbered by this list, which contains them all.
ManifestExpr to_manifest(const Size& size, std::span<const std::string> symbols);

}  // namespace ferry::graph
