#include "crosscompile/passes/simplify/alignment.h"

#include "crosscompile/analysis/modulus.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

namespace ferry::passes {

using namespace ir;

std::optional<Expr> aligned_begin(const Expr& index, const Expr& var, std::int64_t lanes) {
  const Expr begin = simplify(substitute(index, Substitution{{var.get(), Expr(0)}}));
  if (!equal(simplify(index - begin), var)) return std::nullopt;
  return analysis::is_multiple(begin, lanes) ? std::optional(begin) : std::nullopt;
}

}  // namespace ferry::passes
