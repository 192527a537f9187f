// Identifies the program of a group of nodes. Groups that differ only in names, in the contents of constants, or in the
// names of sizes have equal keys, and so one kernel.
#pragma once

#include "host/graph/group.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferry::graph {

struct KernelInput {
  bool is_constant = false;
  DType dtype = DType::f32;
  Shape shape = {};      // in memory
  bool blocked = false;  // an image with its channels in blocks
  Size channels = 0;     // the channels that such an image has
  // It is added to what a node has rounded, and is a constant float32 whose elements are integers that fit a byte.
  bool is_zero_point = false;
  bool operator==(const KernelInput&) const = default;
};

// An operand of a node: an input of the kernel, or the result of an earlier node.
struct KernelOperand {
  enum class Kind : std::uint8_t { none, input, node };
  Kind kind = Kind::none;
  std::size_t index = 0;
  bool operator==(const KernelOperand&) const = default;
};

struct KernelNode {
  Operator op{};
  Attributes attributes;
  std::vector<KernelOperand> operands;
  bool operator==(const KernelNode&) const = default;
};

// Sizes that are not numbers are the symbols n0, n1, ... in order of first occurrence.
struct KernelKey {
  std::vector<KernelNode> nodes;
  std::vector<KernelInput> inputs;  // as the program sees them: dimensions may be fused (fused_dimensions.h)
  DType result = DType::f32;        // the type in which the plan stores the output
  // Channels in a block of the output (NCHWc); 1 if the output is plain. Plain inputs that broadcast to an output in
  // blocks have rank 4.
  std::int64_t channel_block = 1;
  std::optional<std::size_t> updated = {};  // the input in whose memory the result replaces it
  std::vector<std::int64_t> hints;          // values of the symbols for which the kernel is scheduled, or empty
  bool operator==(const KernelKey&) const = default;
};

// Equal keys have equal hashes.
std::size_t hash_of(const KernelKey& key);

// A group as a call of a kernel.
struct GroupKernel {
  KernelKey key;
  std::vector<Size> sizes;          // the values of n0, n1, ...
  std::vector<TensorId> arguments;  // the tensors of the program's parameters: the inputs, then the output
  // Inputs of the result's type and layout of which each element is read only for the same element of the result.
  std::vector<std::size_t> updatable;
};

// The group has no reshapes, which have no kernel. Kernels have dimensions fused where that makes them faster; a
// definition that they are held against must not.
GroupKernel kernel_of(const Graph& graph, const Group& group, bool fuses_dimensions = true);

// Returns "n2".
std::string symbol_name(std::size_t index);

}  // namespace ferry::graph
