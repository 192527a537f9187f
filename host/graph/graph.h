// A network: operators over tensors with symbolic shapes. It knows nothing of loops; each operator, or group of
// operators, becomes a program of host/lang (host/graph/kernels).
#pragma once

#include "ferry/types.h"
#include "host/graph/attributes.h"
#include "host/graph/operators.def"
#include "host/graph/size.h"
#include "module/counted_output.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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
inline constexpr TensorId kNoTensor = UINT32_MAX;  // no tensor; occurs in no graph

struct Tensor {
  std::string name;  // as the network calls it, for messages
  DType dtype = DType::f32;
  Shape shape;
  std::shared_ptr<const ConstantData> constant = {};  // null: not known before the call
  // Channels in a block in memory (NCHWc); 1 for a plain tensor. With more than 1, an image [N, C, H, W] is stored as
  // [N, ceil(C / block), H, W, block], and lanes past the channels in the last block are unspecified
  // (include/ferry/ops/blocked.h).
  std::int64_t channel_block = 1;
};

// Returns the shape of a tensor in memory.
Shape stored_shape(const Tensor& tensor);
// Whether an image is the same bytes with and without its channels in blocks.
bool is_same_bytes(const Shape& image, std::int64_t channel_block);

struct Node {
  Operator op{};
  std::string name;              // as the network calls it, for messages and reports
  std::vector<TensorId> inputs;  // optional ones that are not given are left out at the end
  std::vector<TensorId> outputs;
  Attributes attributes = {};
  // Nothing is moved, so there is no kernel (compile/alias_moves.h): the inputs of a concat lie in its result in
  // memory, or the result of a slice in its input.
  bool in_place = false;
};

// Two sizes that must be equal in a call. The network computes with either as if it were the other, so calls are
// checked before their first step.
struct Requirement {
  Size left, right;
  std::string message;  // names the node and what has these sizes
};

// Texts of the model in whose place an input or an output has numbers.
struct Labels {
  std::vector<std::string> texts;
  bool are_columns = false;  // they name the entries of the last dimension; otherwise the elements are their indices
};

// Nodes stand in an order in which every tensor is written before it is read. Each tensor is an input, constant, or the
// output of one node.
struct Graph {
  std::string name;
  std::vector<std::string> symbols;  // those in the inputs' shapes
  // Those that sizes take to be at least 0, not 1 (size.h).
  std::vector<std::string> from_zero = {};
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;  // may name an input or a constant, or a tensor twice
  std::vector<std::string> output_names;
  std::vector<Requirement> requirements = {};
  std::vector<CountedOutput> counted = {};  // as positions among the outputs
  // By the positions of outputs, and of inputs.
  std::map<std::size_t, std::shared_ptr<const Labels>> labels = {}, input_labels = {};

  const Tensor& tensor(TensorId id) const { return tensors.at(id); }
};

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  bool operator==(const TensorType&) const = default;
};
// Returns "f32[N,3,224,224]".
std::string to_text(const TensorType& type);
inline TensorType type_of(const Tensor& tensor) { return {tensor.dtype, tensor.shape}; }

// Two sizes that a node takes to be equal, and what they are: "the filters' channels".
struct EqualSizes {
  Size left, right;
  std::string left_is, right_is;
};

// Returns the shapes and types of a node's outputs. Throws CompileError, which names the node, when its inputs do not
// fit the operator. Operators with one output return one entry. Sizes that must be equal, but are not for all values of
// the symbols, do not fit either; where `undecided` is given, those that are for some are added to it, and the result
// has the simpler one. A reshape relies on equal numbers of elements, which are refused only where they always differ.
std::vector<TensorType> infer_types(const Node& node, std::span<const TensorType> inputs,
                                    std::vector<EqualSizes>* undecided = nullptr);
// Returns the shape to which NumPy's rules broadcast both; nothing where they do not, or only for some values of the
// symbols. Where `undecided` is given, the latter are added to it.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b, std::vector<EqualSizes>* undecided = nullptr);
// Returns the size of the dimension that broadcasts to dimension `d` of `rank`.
Size size_at(const Shape& shape, std::size_t d, std::size_t rank);

// Build a graph. add_node() infers the types of the outputs, which get the node's name, and returns the first.
TensorId add_input(Graph& graph, std::string name, TensorType type);
TensorId add_constant(Graph& graph, std::string name, TensorType type, std::shared_ptr<const ConstantData> data);
TensorId add_node(Graph& graph, Node node);

// Returns the multiply-adds of a node, which convolutions and matrix products have; 0 for others.
Size multiply_adds(const Graph& graph, const Node& node);

// Throws InternalError when the order, an index, a type or a name is not as described above; passes are checked with
// it.
void validate(const Graph& graph);

}  // namespace ferry::graph
