// The definitions of computed tensors.
#pragma once

#include "crosscompile/ir/expr.h"
#include "ferry/lang/extern_stage.h"
#include "ferry/lang/tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferry::lang {

struct ExternFunction {
  std::string name;
  std::vector<ExternArgument> arguments;
};

// Computes a stage in order along one of its axes, so that it may read its own elements as they are at that point:
// a recurrence reads elements with a smaller index along the axis, a scatter updates the element that it computes the
// place of.
struct Sequence {
  std::size_t axis = 0;  // the stage's axis
  // Stands for the stage's own tensor in its values. It has no definition.
  ir::BufferRef self;
  // For each axis of the stage: whether an element reads others along it, all of which come earlier in the sequence.
  std::vector<bool> crossed;
  // A scatter: the indices at which the value for a point of the axes is stored. Points that differ in any axis but
  // that of the sequence have different indices. Empty for a recurrence, which stores at the axes.
  std::vector<Expr> place;
  // A scatter: the tensor's elements before the first update, a stage that nothing else reads and whose storage the
  // scatter takes over.
  Tensor before;

  bool is_scatter() const { return !place.empty(); }
};

// The definition of a tensor's elements: at each point of `axes` (one for each dimension; their extents are the shape),
// values[k] is the element of output k. The axes of a scatter are those of its updates. Either all values are
// expressions over the axes and other tensors, or all are components of one ir::Reduce that differ only in
// ir::Reduce::component. A sum of float16 or bfloat16 is a reduction in float32, whose results are rounded to the
// output's type.
struct Stage : ir::Definition {
  std::string name;
  std::vector<ir::Axis> axes;
  std::vector<Expr> values;
  // Stages with an assertion that run before this one: they keep data-dependent indices in bounds.
  std::vector<Tensor> checks;
  // Conditions on sizes under which the elements that the values read exist.
  std::vector<ir::Requirement> requirements;
  // If not empty, the only value is a bool without dimensions; the call fails with this message when it is false.
  std::string assertion;
  // A C function that computes the only output as a whole; the value defines its result.
  std::shared_ptr<const ExternFunction> external;
  std::shared_ptr<const Sequence> sequence;  // null: the elements are computed in any order
  // Depth of the deepest chain of expressions and producers below the stage; at most kMaxChainDepth.
  std::uint32_t depth = 0;
};

}  // namespace ferry::lang
