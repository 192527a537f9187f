#include "host/graph/plan/last_reads.h"

#include "host/graph/loops.h"

#include <algorithm>

namespace ferry::graph {
namespace {

class LastReads {
 public:
  LastReads(const Graph& graph, std::span<const Group> groups, const TensorStorages& storages)
      : graph_(graph),
        storages_(storages),
        loops_(graph),
        first_(storages.storages.size(), SIZE_MAX),
        last_(storages.storages.size(), 0) {
    for (const Group& group : groups) write(storages.of_tensor[output_of(graph, group)], time_of(group));
    for (const PlacedCopy& copy : storages.copies) write(copy.copy.to, copy.node);
    for (const Group& group : groups)
      for (const std::size_t node : group.nodes)
        for (const TensorId id : graph.nodes[node].inputs)
          if (id != kNoTensor && storages.of_tensor[id] != kNoStorage) use(storages.of_tensor[id], time_of(group));
    for (const PlacedCopy& copy : storages.copies) {
      if (copy.copy.from != kNoStorage) use(copy.copy.from, copy.node);
      use(copy.copy.to, copy.node);
    }
  }

  std::vector<TensorId> of(const Group& group) const {
    const std::uint32_t result = storages_.of_tensor[output_of(graph_, group)];
    if (storages_.storages[result].kind != Storage::Kind::arena) return {};
    std::vector<TensorId> reads = inputs_of(group), found;
    for (const TensorId id : reads) {
      const std::uint32_t storage = storages_.of_tensor[id];
      const auto is_there = [&](TensorId other) {
        return whole_of(storages_.storages, storages_.of_tensor[other]) == storage;
      };
      if (storages_.storages[storage].kind == Storage::Kind::arena && last_[storage] == time_of(group) &&
          std::ranges::count_if(reads, is_there) == 1)
        found.push_back(id);
    }
    return found;
  }

 private:
  // Steps are in the order of these numbers.
  static std::size_t time_of(const Group& group) { return group.nodes.back(); }

  void write(std::uint32_t storage, std::size_t time) {
    std::size_t& first = first_[whole_of(storages_.storages, storage)];
    first = std::min(first, time);
  }

  // What is written before a loop is needed in every iteration.
  void use(std::uint32_t storage, std::size_t time) {
    storage = whole_of(storages_.storages, storage);
    for (std::size_t l = loops_.before_node(time); l != kNoLoop; l = loops_.all()[l].parent)
      if (first_[storage] <= loops_.all()[l].begin) time = loops_.all()[l].end;
    last_[storage] = std::max(last_[storage], time);
  }

  // Returns what the group reads from memory, each tensor once.
  std::vector<TensorId> inputs_of(const Group& group) const {
    std::vector<TensorId> inputs;
    for (const std::size_t node : group.nodes)
      for (const TensorId id : graph_.nodes[node].inputs) {
        const bool is_inside = std::ranges::any_of(
            group.nodes, [&](std::size_t other) { return graph_.nodes[other].outputs.front() == id; });
        if (id != kNoTensor && !is_inside && std::ranges::find(inputs, id) == inputs.end()) inputs.push_back(id);
      }
    return inputs;
  }

  const Graph& graph_;
  const TensorStorages& storages_;
  const Loops loops_;
  // For each storage that is no part, the times when it is written first and used last.
  std::vector<std::size_t> first_, last_;
};

}  // namespace

std::vector<std::vector<TensorId>> last_reads(const Graph& graph, std::span<const Group> groups,
                                              const TensorStorages& storages) {
  const LastReads reads(graph, groups, storages);
  std::vector<std::vector<TensorId>> all;
  for (const Group& group : groups) all.push_back(reads.of(group));
  return all;
}

void replace_in_memory(TensorStorages& storages, TensorId input, TensorId result) {
  storages.storages[storages.of_tensor[result]] = {
      Storage::Kind::part, storages.of_tensor[input], {}, manifest_constant(0)};
}

}  // namespace ferry::graph
