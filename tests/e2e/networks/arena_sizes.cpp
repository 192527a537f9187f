// arena_sizes TARGET NETWORK.onnx...: prints for each network the bytes of an arena for the tensors between its
// kernels, and the largest sum of the bytes of tensors that are needed during the same kernel. Sizes that are open
// are 1.
#include <algorithm>
#include <cstdio>
#include <optional>

#include "crosscompile/target/resolve.h"
#include "ferry/error.h"
#include "host/graph/compile/compile_network.h"
#include "host/graph/compile/network_kernels.h"
#include "host/graph/onnx/import.h"
#include "host/graph/passes/make_groups.h"
#include "host/graph/plan/arena.h"
#include "host/graph/plan/network_function.h"

namespace {

using namespace ferry;
using namespace ferry::graph;

std::vector<ArenaBlock> blocks_of(const Graph& graph) {
  const auto [storages, kernels] = kernels_of(graph, make_groups(graph), {});
  std::vector<std::optional<ArenaBlock>> blocks(storages.storages.size());
  const std::vector<std::int64_t> sizes(graph.symbols.size(), 1);
  std::size_t step = 0;
  const auto use = [&](std::uint32_t index) {
    index = whole_of(storages.storages, index);
    const Storage& storage = storages.storages[index];
    if (storage.kind != Storage::Kind::arena) return;
    if (!blocks[index]) {
      const auto bytes = static_cast<std::uint64_t>(evaluate(storage.bytes, sizes).value());
      blocks[index] = ArenaBlock{(bytes + 63) / 64 * 64, step, step};
    }
    blocks[index]->last_step = step;
  };
  auto copy = storages.copies.begin();
  const auto copy_before = [&](std::size_t node) {
    for (; copy != storages.copies.end() && copy->node < node; ++copy, ++step) {
      use(copy->copy.from);
      use(copy->copy.to);
    }
  };
  for (const GroupCall& call : kernels.calls) {
    copy_before(call.group.nodes.back());
    for (const TensorId tensor : call.arguments) use(storages.of_tensor[tensor]);
    ++step;
  }
  copy_before(graph.nodes.size() + 1);
  std::vector<ArenaBlock> used;
  for (const std::optional<ArenaBlock>& block : blocks)
    if (block) used.push_back(*block);
  return used;
}

void print_sizes(const std::string& file, const Target& target) {
  const std::vector<ArenaBlock> blocks = blocks_of(optimized(import_graph(onnx::read_model(file), {}), target));
  const std::vector<ArenaPlace> places = place_blocks(blocks);
  std::uint64_t arena = 0, most = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    arena = std::max(arena, places[b].offset + blocks[b].bytes);
    // The sum is largest during the first step of some block.
    const std::size_t step = blocks[b].first_step;
    std::uint64_t sum = 0;
    for (const ArenaBlock& other : blocks)
      if (other.first_step <= step && step <= other.last_step) sum += other.bytes;
    most = std::max(most, sum);
  }
  std::printf("%llu %llu\n", static_cast<unsigned long long>(arena), static_cast<unsigned long long>(most));
}

}  // namespace

int main(int count, char** words) try {
  if (count < 3) return 2;
  const Target target = resolve_target(words[1]);
  for (int i = 2; i < count; ++i) print_sizes(words[i], target);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
