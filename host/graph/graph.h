// A network: operators over tensors with symbolic shapes. It knows nothing of loops; each operator, or group of
// operators, becomes a program of host/lang (host/graph/kernels).
#pragma once

#include "ferry/types.h"
#include "host/graph/attributes.h"
#include "host/graph/operators.def"
#include "host/graph/size.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ferry::graph {

enum class Operator : std::uint8_t {
#define FERRY_ENUM(name, inputs, attributes) name,
  FERRY_GRAPH_OPERATORS(FERRY_ENUM)
#undef FERRY_ENUM
};
const char* operator_name(Operator op);

// Contents of a constant tensor: dense, row-major, little-endian. They may lie in a mapped file.
struct ConstantData {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes in memory
};

using TensorId = std::uint32_t;
inline constexpr TensorId kNoTensor = UINT32_MAX;  // an optional input that is not given

struct Tensor {
  std::string name;  // as the network calls it, for messages
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const ConstantData> constant = {};  // null: not known before the call
};

struct Node {
  Operator op{};
  std::string name;  // as the network calls it, for messages and reports
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  Attributes attributes;
};

// Nodes stand in an order in which every tensor is written before it is read. Each tensor is an input, constant, or the
// output of one node.
struct Graph {
  std::string name;
  std::vector<std::string> symbols;  // of the inputs' shapes
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;  // may name an input or a constant, or a tensor twice

  const Tensor& tensor(TensorId id) const { return tensors.at(id); }
};

// Returns the shapes and types of a node's outputs. Throws Error with invalid_argument, which names the node, when its
// inputs do not fit the operator. Operators with one output return one entry.
struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};
std::vector<TensorType> infer_types(const Node& node, std::span<const TensorType> inputs);

// Throws InternalError when the order, an index, a type or a name is not as described above; passes are checked with
// it.
void validate(const Graph& graph);

}  // namespace ferry::graph
