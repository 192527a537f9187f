// The definitions of computed tensors.
#pragma once

#include "crosscompile/ir/expr.h"
#include "ferry/lang/extern_stage.h"
#include "ferry/lang/tensor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ferry::lang {

struct ExternFunction {
  std::string name;
  std::vector<ExternArgument> arguments;
};

// The definition of a tensor's elements: at each point of `axes` (one for each dimension; their extents are the shape),
// values[k] is the element of output k. Either all values are expressions over the axes and other tensors, or all are
// components of one ir::Reduce that differ only in ir::Reduce::component. A sum of float16 or bfloat16 is a reduction
// in float32, whose results are rounded to the output's type.
struct Stage : ir::Definition {
  std::string name;
  std::vector<ir::Axis> axes;
  std::vector<Expr> values;
  // Stages with an assertion that run before this one: they keep data-dependent indices in bounds.
  std::vector<Tensor> checks;
  // If not empty, the only value is a bool without dimensions; the call fails with this message when it is false.
  std::string assertion;
  // A C function that computes the only output as a whole; the value defines its result.
  std::shared_ptr<const ExternFunction> external;
  // Depth of the deepest chain of expressions and producers below the stage; at most kMaxChainDepth.
  std::uint32_t depth = 0;
};

}  // namespace ferry::lang
