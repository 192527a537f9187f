// Sizes of a network's tensors: integer expressions over the sizes that the network's inputs leave open, such as batch
// and sequence length.
#pragma once

#include "crosscompile/ir/expr.h"
#include "module/manifest_expr.h"

#include <cstdint>
#include <map>
#include <optional>
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
  // A size that an input determines; at least 1, which calls are checked for unless 0 makes no difference
  // (empty_sizes.h). The same name is the same size.
  static Size symbol(const std::string& name);

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
  explicit Size(ir::Expr expr) : expr_(std::move(expr)) {}
  friend std::optional<Size> divide_exactly(const Size& whole, const Size& part);

  ir::Expr expr_;  // simplified
};

Size floor_divide(const Size& a, const Size& b);
Size min(const Size& a, const Size& b);
Size max(const Size& a, const Size& b);

using Shape = std::vector<Size>;

// Return true only when it is so for all values of the symbols.
bool proves_different(const Size& a, const Size& b);
bool proves_less(const Size& a, const Size& b);
// Returns whether `whole` is a multiple of `part`, and the factor if so.
std::optional<Size> divide_exactly(const Size& whole, const Size& part);
// Returns the product of the sizes; 1 for a scalar.
Size element_count(const Shape& shape);
// Return a text such as "N*3" or "[N,3,224,224]".
std::string to_text(const Size& size);
std::string to_text(const Shape& shape);
// Returns the expression with the symbols of these names replaced.
ir::Expr substitute(const Size& size, const std::map<std::string, ir::Expr>& values);
// Returns the size in the form of a manifest; its symbols are numbered by this list, which contains them all.
ManifestExpr to_manifest(const Size& size, std::span<const std::string> symbols);

}  // namespace ferry::graph
