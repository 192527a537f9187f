// Elementwise functions on single elements that are known while a network is imported.
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "host/graph/onnx/known.h"

namespace ferry::graph::onnx {

// An integer or bool, which may depend on sizes, or a float, which may too.
using Element = std::variant<Size, double, Ratio>;

Element element_of(const Known& known, std::size_t index);
// Returns a bool; nothing if neither is so for all sizes.
std::optional<Element> truth(bool yes, bool no);
// Returns whether a type of integers or bool has the value.
bool fits(std::int64_t value, DType dtype);
// Returns nothing where the result is not exact, or cannot be expressed by a Size.
std::optional<Element> fold_element(Operator op, std::span<const Element> operands, DType type, DType result);

}  // namespace ferry::graph::onnx
