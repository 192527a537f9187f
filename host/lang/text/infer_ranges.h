// Infers the ranges of a statement's indices from the tensors they index, and ensures that every read is in bounds. A
// use that the text does not show to be in bounds becomes a requirement on sizes where its bounds are exact, and is
// checked for each index value when the kernel runs where they are not. An index starts at 0 and runs as far as all
// uses in which it stands alone stay in bounds. If it never stands alone, uses together with indices whose ranges are
// already known determine it. 'where' overrides the inference.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/gather.h"
#include "host/lang/index_bounds.h"
#include "host/lang/text/build_expression.h"

#include <unordered_set>
#include <vector>

namespace ferry::lang {

class RangeInference {
 public:
  // A use without syntax is of the elements that the left side names.
  RangeInference(const Scope& scope, const StatementSyntax& statement, const ExpressionBuilder& built,
                 std::vector<Use> uses, Algebra& algebra);

  // Throws CompileError when an index has no range, or a use is certainly out of bounds.
  void run();

  // Checks a use that determines no ranges, once run() has inferred them.
  void check(const Use& use);
  // Whether an index is less than another for all values that indices have.
  bool is_less(const Expr& index, const Expr& than) { return bounds_.is_less(index, than); }

  std::string_view text_at(const Syntax& syntax) const;

  const IndexRange& of(const Expr& index) const { return *bounds_.range(index); }
  // Requirements on sizes for the uses that the text alone does not show to be in bounds.
  const std::vector<ir::Requirement>& requirements() const { return requirements_; }
  // Loads that are in bounds regardless of the conditions around them.
  const std::unordered_set<const ir::ExprNode*>& safe_loads() const { return safe_loads_; }
  // Indices that must be checked when the kernel runs. Data-dependent indices are not among them.
  const std::vector<UncheckedIndex>& unchecked() const { return unchecked_; }

 private:
  void explicit_ranges();
  // Says that the variables of an extent are sizes.
  void is_size(const Expr& extent);
  bool round(bool with_guarded);
  std::optional<IndexRange> range_from_uses(const Expr& index, bool with_guarded, bool alone);
  std::size_t count_indices(const Expr& place) const;
  bool is_guarded(const Use& use, const Expr& index) const { return bounds_.is_guarded(use.guards, index); }
  [[noreturn]] void no_range(const Index& index) const;
  // Whether it is certainly in bounds.
  bool check_dimension(const Use& use, std::size_t dimension);
  std::string described(const Use& use, std::size_t dimension) const;

  const Scope& scope_;
  const StatementSyntax& statement_;
  const ExpressionBuilder& built_;
  std::vector<Use> uses_;
  Algebra& algebra_;
  std::unordered_set<const ir::ExprNode*> data_;  // scalar parameters that give no range
  IndexBounds bounds_;
  std::vector<ir::Requirement> requirements_;
  std::unordered_set<const ir::ExprNode*> safe_loads_;
  std::vector<UncheckedIndex> unchecked_;
};

}  // namespace ferry::lang
