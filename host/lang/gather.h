// Indices that come out of tensors, as in A(I(i), j), are known to stay inside only once the data is there. Each gets a
// stage of its own that looks at all of them, before the stage that uses them runs. So does an index that depends on no
// tensor, where neither the text nor the sizes of a call show that it stays inside.
#pragma once

#include "host/lang/tensor.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ferry::lang {

struct GatherCheck {
  Expr inside;  // over nothing: whether every element's index is inside
  std::string message;
};

struct UncheckedIndex {
  Expr load;
  std::size_t dimension = 0;
};

// The checks of a stage with these axes and values: of what depends on elements, and of `unchecked`. Where a condition
// keeps an index from being used, it may be anything. An index whose type and operations keep it inside a constant size
// needs no check.
std::vector<GatherCheck> gather_checks(const std::vector<ir::Axis>& axes, const std::vector<Expr>& values,
                                       const std::string& name, const std::vector<UncheckedIndex>& unchecked = {});

// As compute_over of tensor.h, with these indices checked when the kernel runs.
std::vector<Tensor> compute_over(std::vector<ir::Axis> axes, std::vector<Expr> values, std::string name,
                                 const std::vector<std::string>& output_names,
                                 const std::vector<UncheckedIndex>& unchecked);

}  // namespace ferry::lang
