// Arithmetic on floats that depend on sizes, as in ceil(height / 32.0): exact, of what a quotient of sizes can express.
#pragma once

#include "host/graph/onnx/fold_elements.h"

namespace ferry::graph::onnx {

// Returns the number as a quotient of small integers, which it equals; nothing if there is none.
std::optional<Ratio> ratio_of(double value);
// Returns a float or an integer, which is rounded towards zero; nothing for narrow floats and bool.
std::optional<Element> cast_ratio(const Ratio& ratio, DType to);
// Operands are floats of this type.
std::optional<Element> fold_ratios(Operator op, std::span<const Element> operands, DType type);

}  // namespace ferry::graph::onnx
