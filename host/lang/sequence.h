// Makes stages that are computed in order along one axis (Sequence in stage.h).
#pragma once

#include "ferry/lang/sequence.h"
#include "host/lang/stage.h"
#include "host/lang/stage_bounds.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::lang {

// Returns a tensor that stands for one being defined, to be read in its own values.
Tensor self_tensor(std::vector<Expr> shape, DType dtype, std::string name);

// Returns the recurrence with this value along the axis. All loads of `self` must be of elements with a smaller index
// along the axis. Throws CompileError where other values depend on such an element: an index, or a reduction that is
// not the whole value.
Tensor recurrence(std::vector<ir::Axis> axes, Expr value, std::size_t along, const Tensor& self, std::string name,
                  const std::vector<UncheckedIndex>& unchecked, IndexChecks checks);

// Returns `before` with these updates: for each point of the axes, `value` is stored at `place`. It may read that
// element of `self`. Throws CompileError where an axis other than `along` is not one of the indices of `place`.
Tensor scatter_over(const Tensor& before, std::vector<ir::Axis> axes, std::vector<Expr> place, Expr value,
                    std::size_t along, const Tensor& self, std::string name,
                    const std::vector<UncheckedIndex>& unchecked, IndexChecks checks);

// Like compute_over() of tensor.h for one value, computed in this order.
Tensor compute_in_sequence(std::vector<ir::Axis> axes, Expr value, std::string name,
                           std::shared_ptr<const Sequence> sequence, const std::vector<UncheckedIndex>& unchecked,
                           IndexChecks checks);

}  // namespace ferry::lang
