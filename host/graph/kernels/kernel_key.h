// Identifies the program of a node. Nodes that differ only in names, in the contents of constants, or in the names
// of sizes have equal keys, and so one kernel.
#pragma once

#include "host/graph/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::graph {

struct KernelInput {
  bool is_given = true;
  bool is_constant = false;
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const KernelInput&) const = default;
};

// Sizes that are not numbers are the symbols n0, n1, ... in order of first occurrence.
struct KernelKey {
  Operator op{};
  Attributes attributes;
  std::vector<KernelInput> inputs;  // as the program sees them: leading or all dimensions may be fused
  std::vector<std::int64_t> hints;  // values of the symbols for which the kernel is scheduled, or empty
  bool operator==(const KernelKey&) const = default;
};

// A node as a call of a kernel.
struct NodeKernel {
  KernelKey key;
  std::vector<Size> sizes;          // the values of n0, n1, ...
  std::vector<TensorId> arguments;  // the tensors of the program's parameters: the inputs that are given, then outputs
};

// Reshapes have no kernel.
NodeKernel kernel_of(const Graph& graph, const Node& node);

// Returns "n2".
std::string symbol_name(std::size_t index);

}  // namespace ferry::graph
