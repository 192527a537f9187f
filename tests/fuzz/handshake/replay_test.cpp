// Replays the kept inputs of the fuzzer, and every truncation and bit flip of them.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/fuzz/handshake/input.h"
#include "tests/paths.h"

namespace ferry::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> corpus() {
  std::vector<Bytes> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/tests/fuzz/corpus/handshake")) {
    std::ifstream file(entry.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

TEST_CASE("the corpus of the handshake is taken without harm, cut off anywhere and with any bit changed") {
  const auto inputs = corpus();
  REQUIRE(inputs.size() >= 6);
  for (const Bytes& input : inputs) {
    handshake_input(input);
    for (std::size_t length = 0; length < input.size(); ++length) handshake_input(std::span(input).first(length));
    for (std::size_t bit = 0; bit < 8 * input.size(); ++bit) {
      Bytes changed = input;
      changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
      handshake_input(changed);
    }
  }
}

}  // namespace
}  // namespace ferry::fuzz
