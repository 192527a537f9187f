// The inputs whose contents a measurement may replace (rpc/PROTOCOL.md, fresh_inputs).
#pragma once

#include "module/manifest.h"

namespace ferry {

// Floats and integers of at most 16 bits. Larger integers may be positions in other tensors.
inline bool may_get_fresh_contents(const ParameterInfo& parameter) {
  return parameter.kind == ParameterKind::tensor && parameter.direction == Direction::in && !parameter.is_constant &&
         (is_float(parameter.dtype) || dtype_bytes(parameter.dtype) <= 2);
}

}  // namespace ferry
