#include "host/graph/passes/make_groups.h"

#include "host/graph/loops.h"
#include "host/graph/operator_kind.h"

#include <algorithm>
#include <initializer_list>
#include <set>

namespace ferry::graph {
namespace {

// Limits of a group. Operations are counted at every use of their result, because kernels have one expression for all
// elementwise nodes.
constexpr std::size_t kMaxNodes = 32, kMaxInputs = 24, kMaxOperations = 256;
constexpr std::size_t kNoGroup = SIZE_MAX;

class Grouping {
 public:
  explicit Grouping(const Graph& graph)
      : graph_(graph),
        loops_(graph),
        readers_(graph.tensors.size()),
        is_output_(graph.tensors.size()),
        group_of_(graph.nodes.size(), kNoGroup),
        writer_(graph.tensors.size(), kNoGroup) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      for (const TensorId id : graph.nodes[n].inputs) {
        if (id != kNoTensor && (readers_[id].empty() || readers_[id].back() != n)) readers_[id].push_back(n);
      }
      for (const TensorId id : graph.nodes[n].outputs) writer_[id] = n;
    }
    for (const TensorId id : graph.outputs) is_output_[id] = true;
  }

  std::vector<Group> run() {
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      if (group_of_[n] != kNoGroup || !has_kernel(graph_.nodes[n])) continue;
      Group group = grown(n);
      for (const std::size_t node : group.nodes) group_of_[node] = groups_.size();
      groups_.push_back(std::move(group));
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) join_reader(g);
    for (std::size_t g = 0; g < groups_.size(); ++g) pass_on_widening(g);
    for (std::size_t g = 0; g < groups_.size(); ++g) join_rows(g);
    for (std::size_t g = 0; g < groups_.size(); ++g) join_image(g);
    std::erase_if(groups_, [](const Group& group) { return group.nodes.empty(); });
    // A group reads only the results of other groups' last nodes, which precede its own last node, so this order is
    // topological.
    std::ranges::sort(groups_, {}, [](const Group& group) { return group.nodes.back(); });
    return std::move(groups_);
  }

 private:
  const Node& node(std::size_t index) const { return graph_.nodes[index]; }
  TensorId output(std::size_t index) const { return node(index).outputs.front(); }
  // Whether two nodes have results of the same shape and layout.
  bool are_alike(std::size_t a, std::size_t b) const {
    const Tensor &x = graph_.tensor(output(a)), &y = graph_.tensor(output(b));
    return x.shape == y.shape && x.channel_block == y.channel_block;
  }
  bool is_elementwise(std::size_t index) const { return kind_of(node(index).op) == OperatorKind::elementwise; }

  static bool contains(const std::vector<std::size_t>& nodes, std::size_t index) {
    return std::ranges::find(nodes, index) != nodes.end();
  }

  // Whether nothing but the last node's result is read outside of the group.
  bool is_closed(const std::vector<std::size_t>& nodes) const {
    return std::ranges::all_of(nodes, [&](std::size_t index) {
      const TensorId id = output(index);
      return index == nodes.back() || (!is_output_[id] && std::ranges::all_of(readers_[id], [&](std::size_t reader) {
               return contains(nodes, reader);
             }));
    });
  }

  // Returns the first node outside that reads a result of the group.
  std::size_t next_reader(const std::vector<std::size_t>& nodes) const {
    std::size_t next = kNoGroup;
    for (const std::size_t index : nodes)
      for (const std::size_t reader : readers_[output(index)])
        if (!contains(nodes, reader)) next = std::min(next, reader);
    return next;
  }

  // Whether all inputs that the node reads from the group are such that it reads the element of its own result.
  bool reads_in_place(std::size_t reader, const std::vector<std::size_t>& nodes) const {
    const std::vector<TensorId>& inputs = node(reader).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool inside =
          inputs[i] != kNoTensor && writer_[inputs[i]] != kNoGroup && contains(nodes, writer_[inputs[i]]);
      if (inside && is_per_channel(node(reader).op, i)) return false;
    }
    return true;
  }

  bool is_within_limits(const std::vector<std::size_t>& nodes) const {
    std::set<TensorId> inputs;
    std::vector<std::size_t> operations;
    for (const std::size_t index : nodes) {
      operations.push_back(1);
      for (const TensorId id : node(index).inputs) {
        const auto writer = std::ranges::find(nodes, id == kNoTensor ? kNoGroup : writer_[id]);
        if (writer == nodes.end())
          inputs.insert(id);
        else
          operations.back() += operations[static_cast<std::size_t>(writer - nodes.begin())];
      }
      if (operations.back() > kMaxOperations) return false;
    }
    return nodes.size() <= kMaxNodes && inputs.size() <= kMaxInputs;
  }

  // Returns the largest group that begins with a node: nodes join in order as long as they fit, and those after the
  // last at which the group was closed leave again.
  Group grown(std::size_t first) const {
    std::vector<std::size_t> nodes{first};
    std::size_t closed = 1;
    while (true) {
      const std::size_t next = next_reader(nodes);
      if (next == kNoGroup || group_of_[next] != kNoGroup || loops_.of_node(next) != loops_.of_node(first) ||
          !is_elementwise(next) || !are_alike(next, first) || !reads_in_place(next, nodes))
        break;
      nodes.push_back(next);
      if (!is_within_limits(nodes)) break;
      if (is_closed(nodes)) closed = nodes.size();
    }
    nodes.resize(closed);
    return {std::move(nodes)};
  }

  // Moves the last nodes of a group, all of them elementwise, to the only group that reads their result, if that reads
  // it in place. Returns whether it does.
  bool move_to_reader(std::size_t from, const std::vector<std::size_t>& nodes) {
    const TensorId result = output(nodes.back());
    if (!std::ranges::all_of(nodes, [&](std::size_t index) { return is_elementwise(index); }) || is_output_[result] ||
        readers_[result].empty())
      return false;
    const std::size_t to = group_of_[readers_[result].front()];
    const bool fits = to != kNoGroup && to != from && std::ranges::all_of(readers_[result], [&](std::size_t reader) {
                        return group_of_[reader] == to && loops_.of_node(reader) == loops_.of_node(nodes.back()) &&
                               is_elementwise(reader) && are_alike(reader, nodes.back()) &&
                               reads_in_place(reader, nodes);
                      });
    if (!fits) return false;
    std::vector<std::size_t> all = nodes;
    all.insert(all.end(), groups_[to].nodes.begin(), groups_[to].nodes.end());
    std::ranges::sort(all);
    if (!is_within_limits(all)) return false;
    for (const std::size_t index : nodes) group_of_[index] = to;
    groups_[to].nodes = std::move(all);
    return true;
  }

  void join_reader(std::size_t from) {
    const std::vector<std::size_t> nodes = groups_[from].nodes;
    if (move_to_reader(from, nodes)) groups_[from].nodes.clear();
  }

  // Where the last nodes widen their elements, as a dequantization does, the group that reads them computes these
  // nodes, so that what lies in memory between the groups is narrow.
  void pass_on_widening(std::size_t from) {
    const std::vector<std::size_t> nodes = groups_[from].nodes;
    const auto bytes = [&](std::size_t index) { return dtype_bytes(graph_.tensor(output(index)).dtype); };
    std::size_t kept = nodes.size();
    for (std::size_t count = nodes.size(); count-- > 1;) {
      const bool is_narrower = bytes(nodes[count - 1]) < bytes(nodes[kept - 1]);
      if (is_narrower && is_closed({nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count)})) kept = count;
    }
    if (kept == nodes.size() || nodes.empty()) return;
    const auto end = nodes.begin() + static_cast<std::ptrdiff_t>(kept);
    if (move_to_reader(from, {end, nodes.end()})) groups_[from].nodes = {nodes.begin(), end};
  }

  // Returns the group whose result only the node `reader` reads, and nothing outside of loops around it; kNoGroup:
  // none.
  std::size_t only_group_before(TensorId id, std::size_t reader) const {
    const std::size_t writer = writer_[id];
    if (is_output_[id] || writer == kNoGroup || readers_[id] != std::vector{reader} ||
        loops_.of_node(writer) != loops_.of_node(reader))
      return kNoGroup;
    return group_of_[writer];
  }

  // Adds the groups of a softmax and of the product before it to that of the product that computes them.
  void join_rows(std::size_t to) {
    const auto is_joined = [&](std::size_t index) {
      const auto* matmul = std::get_if<MatmulAttributes>(&node(index).attributes);
      return matmul != nullptr && matmul->fuses_rows && !matmul->transposed_a;
    };
    const auto product = std::ranges::find_if(groups_[to].nodes, is_joined);
    if (product == groups_[to].nodes.end()) return;
    const std::size_t weights = only_group_before(node(*product).inputs[0], *product);
    if (weights == kNoGroup) return;
    const auto member_of = [&](std::size_t group, Operator op) {
      const auto found = std::ranges::find(groups_[group].nodes, op, [&](std::size_t index) { return node(index).op; });
      return found == groups_[group].nodes.end() ? kNoGroup : *found;
    };
    const std::size_t softmax = member_of(weights, Operator::softmax);
    if (softmax == kNoGroup) return;
    const std::size_t rank = graph_.tensor(output(softmax)).shape.size();
    if (std::get<DimensionAttributes>(node(softmax).attributes).dimension + 1 != rank) return;
    const std::size_t scores = only_group_before(node(softmax).inputs[0], softmax);
    if (scores == kNoGroup || member_of(scores, Operator::matmul) == kNoGroup) return;
    join(to, {weights, scores});
  }

  // Adds the group of the convolution whose result a depthwise one computes with its own.
  void join_image(std::size_t to) {
    const auto conv_of = [&](std::size_t index) { return std::get_if<ConvAttributes>(&node(index).attributes); };
    const auto window = std::ranges::find_if(groups_[to].nodes, [&](std::size_t index) {
      const auto* conv = conv_of(index);
      return conv != nullptr && conv->fuses_input;
    });
    if (window == groups_[to].nodes.end()) return;
    const std::size_t image = only_group_before(node(*window).inputs[0], *window);
    if (image == kNoGroup) return;
    const std::size_t first = groups_[image].nodes.front();
    const auto* conv = node(first).op == Operator::conv ? conv_of(first) : nullptr;
    if (conv != nullptr && conv->groups == 1 && conv->winograd_tile == 0) join(to, {image});
  }

  // Adds these groups to another one if it stays within the limits.
  void join(std::size_t to, std::initializer_list<std::size_t> others) {
    std::vector<std::size_t> all = groups_[to].nodes;
    for (const std::size_t from : others) all.insert(all.end(), groups_[from].nodes.begin(), groups_[from].nodes.end());
    std::ranges::sort(all);
    if (!is_within_limits(all)) return;
    for (const std::size_t from : others) {
      for (const std::size_t index : groups_[from].nodes) group_of_[index] = to;
      groups_[from].nodes.clear();
    }
    groups_[to].nodes = std::move(all);
  }

  const Graph& graph_;
  const Loops loops_;
  std::vector<std::vector<std::size_t>> readers_;  // who reads each tensor, ascending
  std::vector<bool> is_output_;
  std::vector<std::size_t> group_of_;  // the group that each node is in
  std::vector<std::size_t> writer_;    // the node that writes each tensor
  std::vector<Group> groups_;
};

}  // namespace

std::vector<Group> make_groups(const Graph& graph) { return Grouping(graph).run(); }

}  // namespace ferry::graph
