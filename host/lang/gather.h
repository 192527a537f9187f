// Indices that come out of tensors, as in A(I(i), j), are known to stay inside only once the data is there. Each gets a
// stage of its own that looks at all of them, before the stage that uses them runs.
#pragma once

#include "host/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::lang {

struct GatherCheck {
  Expr inside;  // over nothing: whether every element's index is inside
  std::string message;
};

// The checks of a stage with these axes and values. Where a condition keeps an index from being used, it may be
// anything. An index whose type and operations keep it inside a constant size needs no check.
std::vector<GatherCheck> gather_checks(const std::vector<ir::Axis>& axes, const std::vector<Expr>& values,
                                       const std::string& name);

}  // namespace ferry::lang
