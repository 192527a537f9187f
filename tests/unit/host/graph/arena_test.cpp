#include "host/graph/plan/arena.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace ferry::graph;

namespace {

bool meet(const ArenaBlock& a, const ArenaBlock& b) {
  return !(a.last_step < b.first_step || b.last_step < a.first_step);
}

std::uint64_t end_of(const std::vector<ArenaBlock>& blocks, const std::vector<ArenaPlace>& places) {
  std::uint64_t end = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) end = std::max(end, places[b].offset + blocks[b].bytes);
  return end;
}

std::vector<ArenaBlock> random_blocks(std::mt19937& random, std::size_t count) {
  std::vector<ArenaBlock> blocks(count);
  for (ArenaBlock& block : blocks) {
    block.bytes = random() % 5 == 0 ? 0 : random() % 20 * 64;
    block.first_step = random() % 30;
    block.last_step = block.first_step + random() % 6;
  }
  return blocks;
}

}  // namespace

TEST_CASE("blocks that are needed at the same time have places apart") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<ArenaBlock> blocks = random_blocks(random, 1 + random() % 40);
    const std::vector<ArenaPlace> places = place_blocks(blocks);
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (!meet(blocks[a], blocks[b])) continue;
        const bool apart = places[a].offset + blocks[a].bytes <= places[b].offset ||
                           places[b].offset + blocks[b].bytes <= places[a].offset;
        CHECK(apart);
      }
    }
  }
}

TEST_CASE("blocks above those below them stay apart for any other sizes") {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const std::vector<ArenaBlock> blocks = random_blocks(random, 1 + random() % 40);
    const std::vector<ArenaPlace> places = place_blocks(blocks);
    std::vector<std::size_t> order(blocks.size());
    for (std::size_t b = 0; b < order.size(); ++b) order[places[b].rank] = b;
    std::vector<std::uint64_t> bytes(blocks.size()), offsets(blocks.size());
    for (std::uint64_t& each : bytes) each = random() % 10 * 64;
    for (const std::size_t b : order) {
      for (const std::size_t below : places[b].below) {
        REQUIRE(places[below].rank < places[b].rank);
        offsets[b] = std::max(offsets[b], offsets[below] + bytes[below]);
      }
    }
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (!meet(blocks[a], blocks[b])) continue;
        const bool apart = offsets[a] + bytes[a] <= offsets[b] || offsets[b] + bytes[b] <= offsets[a];
        CHECK(apart);
      }
    }
  }
}

TEST_CASE("a chain of equal tensors takes the memory of two") {
  std::vector<ArenaBlock> blocks;
  for (std::size_t step = 0; step < 20; ++step) blocks.push_back({4096, step, step + 1});
  CHECK(end_of(blocks, place_blocks(blocks)) == 2 * 4096);
}

TEST_CASE("a small tensor that is kept long does not lie between large ones") {
  const std::vector<ArenaBlock> blocks = {{64, 0, 9}, {1000 * 64, 0, 1}, {1500 * 64, 2, 3}, {2000 * 64, 4, 5}};
  CHECK(end_of(blocks, place_blocks(blocks)) == 2001 * 64);
}
