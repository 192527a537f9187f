// Shows that the elements which a stage reads exist. A read that the definition does not show to be in bounds becomes a
// requirement on sizes where its bounds are exact, and is checked for each index value when the kernel runs where they
// are not.
#pragma once

#include "ferry/lang/tensor.h"
#include "host/lang/bounds/guard_facts.h"
#include "host/lang/bounds/interval.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace ferry::lang {

struct IndexRange {
  Polynomial begin, end;  // [begin, end)
};

class IndexBounds {
 public:
  // `is_data` says which variables may be any number (analysis/wrapping.h).
  IndexBounds(Algebra& algebra, analysis::IsData is_data);

  void add_index(const Expr& index);
  // States the range of an index, which may be empty.
  void set(const Expr& index, IndexRange range);
  const IndexRange* range(const Expr& index) const;
  std::size_t ranges() const { return ranges_.size(); }
  Intervals& intervals() { return intervals_; }

  // Whether one of the conditions names an index that this expression uses.
  bool is_guarded(const std::vector<Expr>& guards, const Expr& index) const;
  // Whether an index is less than another for all values that indices have.
  bool is_less(const Expr& index, const Expr& than);

  enum class Kind : std::uint8_t {
    safe,       // in bounds, whatever the conditions around it are
    guarded,    // in bounds where it is read
    required,   // in bounds if `condition` holds
    unchecked,  // must be checked when the kernel runs
    outside,    // certainly not always in bounds
  };
  struct Verdict {
    Kind kind = Kind::safe;
    Expr condition = {};
    std::string text = {};  // required and outside: what is expected
  };
  // `use` is the beginning of the text: "'A' is read at i + 1". The guards are the conditions under which it is read.
  Verdict check(const ir::Load& load, std::size_t dimension, const std::vector<Expr>& guards, const std::string& use);

 private:
  std::optional<Verdict> judge(const Expr& index, const Interval& range, const Expr& size, bool has_guards,
                               const std::string& use);
  // Whether a quotient, a minimum or the like in the index is of something that may wrap.
  bool wraps_inside(const Expr& index) const;
  std::optional<Interval> bounds_of(const Expr& index);
  bool guards_suffice(const ir::Load& load, std::size_t dimension, const std::vector<Expr>& guards);
  std::vector<Polynomial> values_of(const Expr& index, const GuardFacts& facts);
  bool follows(const Polynomial& value, const std::vector<Polynomial>& facts, int steps);
  bool holds_with_elements(const Polynomial& above, const Expr& extent);
  Expr unless_empty(Expr condition, const Expr& index);

  Algebra& algebra_;
  analysis::IsData is_data_;
  Intervals intervals_;
  std::vector<Expr> indices_;
  std::unordered_map<const ir::ExprNode*, IndexRange> ranges_;
};

}  // namespace ferry::lang
