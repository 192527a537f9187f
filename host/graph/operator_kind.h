// The kinds of operators, which decide what may be computed together.
#pragma once

#include "host/graph/graph.h"

#include <cstdint>

namespace ferry::graph {

enum class OperatorKind : std::uint8_t {
  anchor,       // an element depends on many of the inputs: products, windows, reductions
  elementwise,  // an element depends on one of each input; inputs broadcast, or have one element for each channel
  movement,     // an element is one of the inputs, or a constant
  view,         // the result is the input in memory
  control,      // begins or ends a loop
};

OperatorKind kind_of(Operator op);

// Whether a kernel computes the node.
bool has_kernel(const Node& node);

// Whether an input of the operator has one element for each channel: for each index in dimension 1 of the result.
bool is_per_channel(Operator op, std::size_t input);

}  // namespace ferry::graph
