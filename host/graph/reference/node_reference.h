// A node computed by the reference evaluator, from the contents of its inputs.
#pragma once

#include "host/graph/graph.h"
#include "host/lang/reference/reference.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ferry::graph {

// The sizes of a network's symbols in one call.
using NetworkSizes = std::map<std::string, std::int64_t>;

std::int64_t value_of(const Size& size, const NetworkSizes& sizes);

class NodeReference {
 public:
  // `inputs` are the contents of the node's inputs that are given, in order; they must outlive this object. The node is
  // no reshape.
  NodeReference(const Graph& graph, const Node& node, const NetworkSizes& sizes, std::vector<const void*> inputs);
  ~NodeReference();

  const lang::Reference& reference() const { return *reference_; }
  // The parameter of the reference that is the node's output.
  std::size_t output() const { return output_; }

 private:
  lang::Program program_;
  std::vector<std::int64_t> scalars_;
  std::unique_ptr<const lang::Reference> reference_;
  std::size_t output_ = 0;
};

// Computes all tensors of the network from the contents of its inputs, by id. A tensor that is reshaped from another
// has a copy of its contents.
std::vector<std::vector<std::byte>> evaluate(const Graph& graph, const NetworkSizes& sizes,
                                             const std::vector<std::vector<std::byte>>& inputs);

}  // namespace ferry::graph
