#include "host/graph/passes/choose_layouts.h"

#include "crosscompile/passes/tensorize/tile_dot.h"
#include "host/graph/loops.h"
#include "host/graph/passes/blocked_groups.h"
#include "host/graph/passes/choose_dots.h"
#include "host/graph/passes/make_groups.h"

#include <map>
#include <tuple>
#include <utility>

namespace ferry::graph {
namespace {

// Copies a graph node by node with the chosen layouts, and adds conversions.
class LayoutWriter {
 public:
  LayoutWriter(const Graph& graph, std::int64_t lanes) : from_(graph), loops_(graph), lanes_(lanes), result_(graph) {
    result_.nodes.clear();
  }

  Graph run(const std::vector<bool>& is_blocked) {
    for (std::size_t n = 0; n < from_.nodes.size(); ++n) {
      Node node = from_.nodes[n];
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        TensorId& id = node.inputs[i];
        if (id == kNoTensor || result_.tensor(id).constant != nullptr) continue;
        const bool wants_blocked = is_blocked[n] && reads_blocked(from_, node, i);
        // A view reads the same bytes in either layout.
        if (node.op == Operator::reshape && is_same_bytes(result_.tensor(id))) continue;
        id = in_layout(id, wants_blocked ? lanes_ : 1, loops_.before_node(n));
      }
      if (is_blocked[n])
        for (const TensorId id : node.outputs) result_.tensors[id].channel_block = lanes_;
      result_.nodes.push_back(std::move(node));
    }
    for (TensorId& id : result_.outputs) id = in_layout(id, 1, kNoLoop);
    return std::move(result_);
  }

 private:
  // Returns the tensor in this layout, converted if need be in this loop.
  TensorId in_layout(TensorId id, std::int64_t block, std::size_t loop) {
    if (result_.tensor(id).channel_block == block) return id;
    const auto known = converted_.find({id, block, loop});
    if (known != converted_.end()) return known->second;
    Tensor converted = result_.tensor(id);
    converted.channel_block = block;
    const bool is_view = is_same_bytes(result_.tensor(id)) && is_same_bytes(converted);
    const std::string name = converted.name + (block == 1 ? " to NCHW" : " to NCHW" + std::to_string(block) + "c");
    const auto to = static_cast<TensorId>(result_.tensors.size());
    Node node = {is_view ? Operator::reshape : Operator::convert, name, {id}, {to}};
    if (is_view) node.attributes = ReshapeAttributes{converted.shape};
    result_.tensors.push_back(std::move(converted));
    result_.nodes.push_back(std::move(node));
    converted_[{id, block, loop}] = to;
    return to;
  }

  // Whether the tensor is in memory what it would be in the plain layout.
  bool is_same_bytes(const Tensor& tensor) const {
    return tensor.channel_block == 1 ? tensor.shape.size() == 4 && graph::is_same_bytes(tensor.shape, lanes_)
                                     : graph::is_same_bytes(tensor.shape, tensor.channel_block);
  }

  const Graph& from_;
  const Loops loops_;
  std::int64_t lanes_;
  Graph result_;
  // By the tensor, the block, and the loop that the conversion is in.
  std::map<std::tuple<TensorId, std::int64_t, std::size_t>, TensorId> converted_;
};

// The images that convolutions of bytes read and write, in bytes of blocks of so many channels. Those of few channels
// are read plain.
double bytes_in_blocks(const Graph& graph, const SizeGuess& guess, std::int64_t block) {
  constexpr std::int64_t kColours = 4;
  double bytes = 0;
  for (const Node& node : graph.nodes) {
    if (node.op != Operator::quantized_conv) continue;
    for (const TensorId id : {node.inputs[0], node.outputs[0]}) {
      const Shape& shape = graph.tensor(id).shape;
      const std::int64_t channels = guess.number(shape[1]);
      if (channels <= kColours) continue;
      const std::int64_t whole = (channels + block - 1) / block * block;
      bytes += guess(shape[0] * shape[2] * shape[3]) * static_cast<double>(whole);
    }
  }
  return bytes;
}

}  // namespace

std::int64_t channels_in_block(const Graph& graph, const Target& target, const SizeGuess& guess) {
  const std::int64_t floats = target.lanes(sizeof(float));
  if (passes::has_tiles(target, DType::i32)) {
    // Layers of few channels lose more by whole blocks than others gain by tiles.
    constexpr double kMostPadding = 1.1;
    const double narrow = bytes_in_blocks(graph, guess, floats);
    const bool pays = narrow > 0 && bytes_in_blocks(graph, guess, passes::kTileDepth) <= kMostPadding * narrow;
    return pays ? passes::kTileDepth : floats;
  }
  if (!adds_byte_pairs(target) || floats == 1) return floats;
  double integers = 0, all = 0;
  for (const Node& node : graph.nodes) {
    const bool is_quantized = node.op == Operator::quantized_conv;
    if (!is_quantized && node.op != Operator::conv) continue;
    const double work = guess(multiply_adds(graph, node));
    all += work;
    if (is_quantized) integers += work;
  }
  return integers > all / 2 ? 2 * floats : floats;
}

Graph choose_layouts(const Graph& graph, std::int64_t lanes, const SizeGuess& guess, const KnownLayouts& known) {
  const LayoutProblem problem = layout_problem(graph, lanes, guess);
  std::vector<bool> is_blocked = least_cost_layouts(problem);
  if (known) {
    std::optional<std::vector<bool>> better = known(graph, lanes, problem, is_blocked);
    if (better && better->size() == is_blocked.size()) is_blocked = *std::move(better);
  }
  std::vector<bool> nodes(graph.nodes.size());
  const std::vector<Group> groups = make_groups(graph);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t node : groups[g].nodes) nodes[node] = is_blocked[g] && problem.groups[g].may_be_blocked;
  return LayoutWriter(graph, lanes).run(nodes);
}

}  // namespace ferry::graph
