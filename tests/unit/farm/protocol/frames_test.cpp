// The bytes of every message are those of the golden: boards, clients and trackers of different versions understand
// each other. The file only ever gets more lines.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

#include "tests/unit/farm/protocol/samples.h"

namespace ferry::farm::wire {
namespace {

std::map<std::string, std::string> golden_frames() {
  std::map<std::string, std::string> frames;
  std::ifstream file(FERRY_SOURCE_DIR "/tests/golden/farm/frames.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    frames[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return frames;
}

TEST_CASE("every message has the bytes that it has always had") {
  const std::map<std::string, std::string> golden = golden_frames();
  std::size_t messages = 0;
  for_each_message([&](const char* name, const auto& message) {
    CAPTURE(name);
    ++messages;
    std::string bytes;
    for (const std::uint8_t byte : encode(message))
      bytes += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    const auto found = golden.find(name);
    REQUIRE(found != golden.end());
    CHECK(bytes == found->second);
  });
  CHECK(messages == golden.size());
}

}  // namespace
}  // namespace ferry::farm::wire
