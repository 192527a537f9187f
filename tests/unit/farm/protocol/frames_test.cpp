// The bytes of every message are those of the golden: boards, clients and trackers of different versions understand
// each other. The file only ever gets more lines. Where a struct got another field, the message has a line with it
// after those of older peers, which are still understood.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/hex.h"
#include "tests/paths.h"
#include "tests/unit/farm/protocol/samples.h"

namespace ferry::farm::wire {
namespace {

std::map<std::string, std::vector<std::string>> golden_frames() {
  std::map<std::string, std::vector<std::string>> frames;
  std::ifstream file(FERRY_SOURCE_DIR "/tests/golden/farm/frames.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    frames[line.substr(0, colon)].push_back(line.substr(colon + 2));
  }
  return frames;
}

TEST_CASE("every message has the bytes that it has always had") {
  const auto golden = golden_frames();
  std::size_t messages = 0;
  for_each_message([&]<class T>(const char* name, const T& message) {
    CAPTURE(name);
    ++messages;
    const auto lines = golden.find(name);
    REQUIRE(lines != golden.end());
    CHECK(hex_text(encode(message)) == lines->second.back());
    for (const std::string& line : lines->second) {
      std::vector<std::uint8_t> bytes(line.size() / 2);
      REQUIRE(parse_hex(line, bytes));
      CHECK(decode<T>(bytes).is_ok());
    }
  });
  CHECK(messages == golden.size());
}

}  // namespace
}  // namespace ferry::farm::wire
