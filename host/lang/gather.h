// Data-dependent indices, as in A(I(i), j), are known to be in bounds only once the data is there. For each one a
// separate stage checks all of its values before the stage that uses them runs. An index that depends on no tensor gets
// such a stage too, where neither the text nor the sizes of a call show that it is in bounds.
#pragma once

#include "ferry/lang/tensor.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ferry::lang {

struct GatherCheck {
  Expr inside;  // without axes: whether the index of every element is inside
  std::string message;
};

struct UncheckedIndex {
  Expr load;
  std::size_t dimension = 0;
};

// Returns the checks of a stage with these axes and values: for indices that depend on elements, and for those in
// `unchecked`. Where a condition keeps an index from being used, its value does not matter. An index whose type and
// operations keep it inside a constant size needs no check. `updated`, if not null, is not read at its indices but
// written there.
std::vector<GatherCheck> gather_checks(const std::vector<ir::Axis>& axes, const std::vector<Expr>& values,
                                       const std::string& name, const std::vector<UncheckedIndex>& unchecked = {},
                                       const ir::Buffer* updated = nullptr);

// Like compute_over of tensor.h, with these indices checked when the kernel runs.
std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names,
                                 const std::vector<UncheckedIndex>& unchecked);

}  // namespace ferry::lang
