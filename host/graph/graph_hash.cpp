#include "host/graph/graph_hash.h"

#include "base/hash_stream.h"
#include "host/graph/graph_text.h"

#include <string>

namespace ferry::graph {

Hash graph_hash(const Graph& graph) {
  Graph nameless = graph;
  nameless.name.clear();
  for (Tensor& tensor : nameless.tensors) tensor.name.clear();
  for (Node& node : nameless.nodes) node.name.clear();
  for (std::string& name : nameless.output_names) name.clear();
  nameless.requirements.clear();  // texts with names, and what they require follows from the nodes
  const std::string text = to_text(nameless);
  HashStream hash;
  hash.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return hash.finish();
}

}  // namespace ferry::graph
