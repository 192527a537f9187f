// Finds the ranges of a statement's indices from the tensors they index, and makes sure that no place outside a tensor
// is read: what the text does not show to be inside becomes a requirement on sizes where that is exact, and is left to
// a check of each index when the kernel runs where it is not. An index starts at 0 and runs as far as every use of it
// where it stands alone stays inside, or, when there is none, every use beside indices that are known already; 'where'
// overrides that.
#pragma once

#include "crosscompile/ir/function.h"
#include "host/lang/build_expression.h"
#include "host/lang/gather.h"
#include "host/lang/guard_facts.h"
#include "host/lang/interval.h"

#include <unordered_set>
#include <vector>

namespace ferry::lang {

struct IndexRange {
  Polynomial begin, end;  // [begin, end)
};

class RangeInference {
 public:
  // `earlier` is the tensor the statement updates, or an empty one.
  RangeInference(const Scope& scope, const StatementSyntax& statement, const ExpressionBuilder& built,
                 const Tensor& earlier, Algebra& algebra);

  // TextError when an index has no range, or a use is certainly outside.
  void run();

  const IndexRange& of(const Expr& index) const { return ranges_.at(index.get()); }
  // What sizes must fulfil for uses that the text alone does not show to be inside.
  const std::vector<ir::Requirement>& requirements() const { return requirements_; }
  // Loads that are inside whatever the conditions around them say.
  const std::unordered_set<const ir::ExprNode*>& safe_loads() const { return safe_loads_; }
  // What must be checked when the kernel runs. Indices that depend on elements are not among them.
  const std::vector<UncheckedIndex>& unchecked() const { return unchecked_; }

 private:
  void explicit_ranges();
  bool round(bool with_guarded);
  std::optional<IndexRange> range_from_uses(const Expr& index, bool with_guarded, bool alone);
  std::size_t count_indices(const Expr& place) const;
  void set(const Expr& index, IndexRange range);
  bool is_guarded(const Use& use, const Expr& index) const;
  [[noreturn]] void no_range(const Index& index) const;
  void check(const Use& use);
  // Whether it is certainly inside.
  bool check_dimension(const Use& use, std::size_t dimension);
  // Nothing when there are none, or none that polynomials of a reasonable size say.
  std::optional<Interval> bounds_of(const Expr& index);
  // Whether the conditions under which it is read keep it inside.
  bool guards_suffice(const Use& use, std::size_t dimension);
  bool follows(const Polynomial& value, const std::vector<Polynomial>& facts, int steps);
  // Whether the value, which is at least 0 when the index does not leave the tensor's upper end, is that whenever the
  // tensor has elements.
  bool holds_with_elements(const Polynomial& above, const Expr& extent);
  std::string described(const Use& use, std::size_t dimension) const;

  const Scope& scope_;
  const StatementSyntax& statement_;
  const ExpressionBuilder& built_;
  std::vector<Use> uses_;
  Algebra& algebra_;
  Intervals intervals_;
  std::unordered_map<const ir::ExprNode*, IndexRange> ranges_;
  std::vector<ir::Requirement> requirements_;
  std::unordered_set<const ir::ExprNode*> safe_loads_;
  std::vector<UncheckedIndex> unchecked_;
};

}  // namespace ferry::lang
