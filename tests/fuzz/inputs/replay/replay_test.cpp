// Replays every input kept in tests/fuzz/corpus, and thousands of damaged copies of each.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/inputs/targets.h"
#include "tests/paths.h"

namespace ferry::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> corpus(const std::string& target) {
  std::vector<Bytes> inputs;
  const std::string folder = std::string(FERRY_SOURCE_DIR) + "/tests/fuzz/corpus/" + target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// Returns a damaged copy: a few bytes changed, a piece removed or duplicated, or the end truncated.
Bytes damaged(Bytes bytes, std::mt19937& random) {
  if (bytes.empty()) return bytes;
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % bytes.size()); };
  const auto begin = bytes.begin();
  switch (random() % 4) {
    case 0: bytes.resize(static_cast<std::size_t>(place())); break;
    case 1: bytes.erase(begin + std::min(place(), place()), bytes.end() - 1); break;
    case 2: bytes.insert(begin + place(), 1 + random() % 16, static_cast<std::uint8_t>(random())); break;
    default:
      for (unsigned i = 0; i <= random() % 8; ++i) bytes[static_cast<std::size_t>(place())] ^= 1U << (random() % 8);
  }
  return bytes;
}

TEST_CASE("no target minds what was found once, nor damaged copies of it") {
  for (const Target& target : kTargets) {
    CAPTURE(target.name);
    const std::vector<Bytes> inputs = corpus(target.name);
    CHECK(inputs.size() >= 3);
    std::mt19937 random(1);
    for (const Bytes& input : inputs) {
      target.run(input);
      for (std::size_t i = 0; i < 4000 / inputs.size() + 1; ++i) target.run(damaged(input, random));
    }
  }
}

}  // namespace
}  // namespace ferry::fuzz
