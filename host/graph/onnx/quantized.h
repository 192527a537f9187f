// Integers with scales and zero points, for importers of operators on them.
#pragma once

#include "host/graph/onnx/node_import.h"

namespace ferry::graph::onnx {

// Refuses a type other than integers of 8 or 16 bits.
void expect_narrow(const NodeImport& node, DType dtype);
// Returns round(quotient) + zero_point within the limits of the type, to which casts saturate. No zero point is 0.
Value rounded_to(const NodeImport& node, const Value& quotient, const Value* zero_point, DType to);
// Reshapes a vector of scales or zero points to broadcast along the dimension that is `from_end` from the end; a single
// one becomes a scalar.
Value along(const NodeImport& node, const Value& value, std::size_t from_end);
// Returns an input as int32 without its zero point. The results are exact, and padding stands for 0.
Value centered(const NodeImport& node, std::size_t input, std::size_t zero_point, std::size_t from_end);
// Returns an input of scales as float32.
Value float_scale(const NodeImport& node, std::size_t input, std::size_t from_end);
// Returns an input in float32, without its zero point and times its scale: inputs of one number each.
Value dequantized(const NodeImport& node, std::size_t input, std::size_t scale, std::size_t zero_point);
// Returns float32 divided by a scale, rounded and moved by a zero point: inputs of one number each. Without a zero
// point the type is `otherwise`.
Value quantized(const NodeImport& node, const Value& x, std::size_t scale, std::size_t zero_point, DType otherwise);
// Returns x as uint8 with one scale, which is such that 0 and all elements are within the limits.
struct DynamicallyQuantized {
  Value integers, scale, zero_point;
};
DynamicallyQuantized dynamically_quantized(const NodeImport& node, const Value& x);

}  // namespace ferry::graph::onnx
