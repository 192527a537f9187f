// Tests that FARM.md matches the code, since other implementations are written from that page.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "farm/protocol/codec.h"

namespace ferry::farm::wire {
namespace {

std::string page() {
  std::ifstream file(FERRY_SOURCE_DIR "/farm/FARM.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

// The number as the page writes it: 16,384.
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

TEST_CASE("the page has a row for every message, and no row for another one") {
  const std::string text = page();
  REQUIRE_FALSE(text.empty());
  std::size_t expected = 0;
  const auto expect = [&](unsigned tag, const char* name) {
    CAPTURE(name);
    CHECK(text.find("\n| " + std::to_string(tag) + " | " + name + " |") != std::string::npos);
    ++expected;
  };
#define FERRY_ROW(number, request, reply, name, directions) expect(number, name);
  FERRY_FARM_REQUESTS(FERRY_ROW)
#undef FERRY_ROW
#define FERRY_ROW(number, event, name, directions) expect(number, name);
  FERRY_FARM_EVENTS(FERRY_ROW)
#undef FERRY_ROW
  // The rows of two digits and a name that are in the tables of messages.
  const std::string tables = text.substr(0, text.find("\n## Keys"));
  std::size_t rows = 0;
  for (std::size_t at = tables.find("\n| "); at != std::string::npos; at = tables.find("\n| ", at + 1)) {
    const std::string tag = tables.substr(at + 3, 2);
    if (tag.find_first_not_of("0123456789") == std::string::npos) ++rows;
  }
  CHECK(rows == expected);
}

TEST_CASE("the page says from whom and to whom each event goes") {
  const std::string text = page();
  const auto line_of = [&](unsigned tag) {
    const std::size_t begin = text.find("\n| " + std::to_string(tag) + " |");
    return text.substr(begin + 1, text.find('\n', begin + 1) - begin);
  };
#define FERRY_ROW(number, event, name, directions)                                            \
  {                                                                                           \
    CAPTURE(name);                                                                            \
    const bool is_sent = ((directions) & (kFromBoard | kFromClient)) != 0;                    \
    const bool is_received = ((directions) & (kToBoard | kToClient)) != 0;                    \
    CHECK((line_of(number).find("| from ") != std::string::npos) == is_sent);                 \
    CHECK((line_of(number).find("| to ") != std::string::npos) == (is_received && !is_sent)); \
  }
  FERRY_FARM_EVENTS(FERRY_ROW)
#undef FERRY_ROW
}

TEST_CASE("the page states the limits and times of the code") {
  const std::string text = page();
  for (const std::string& expected : {"at most " + with_commas(kMaxFirstBody) + " bytes",
                                      "at most " + with_commas(kMaxBody) + " bytes",
                                      "string here has at most " + std::to_string(kMaxName) + " bytes",
                                      "a text " + std::to_string(kMaxText),
                                      "a selector " + std::to_string(kMaxSelector),
                                      "features (" + std::to_string(kMaxFeatures) + ")",
                                      "*accelerator* (" + std::to_string(kMaxBoardDevices) + ")",
                                      "*tag* (" + std::to_string(kMaxTags) + ")",
                                      "list of selector (" + std::to_string(kMaxSlots) + ")",
                                      "boards (" + std::to_string(kMaxSlots) + ")",
                                      "at most " + std::to_string(kMaxPage) + " elements",
                                      "piece (" + with_commas(kMaxPieceSent) + ")",
                                      "piece (" + with_commas(kMaxPieceReceived) + ")",
                                      "objects (" + std::to_string(kMaxObjectsAsked) + ")",
                                      "blobs (" + std::to_string(kMaxBlobs) + ")",
                                      "missing (" + std::to_string(kMaxBlobs + 1) + ")",
                                      "line (" + with_commas(kMaxVerdict) + ")",
                                      "heartbeat every " + std::to_string(kHeartbeatPeriod.count()) + " seconds",
                                      "heard nothing for " + std::to_string(kSilence.count()) + " seconds",
                                      "version " + std::to_string(kVersionMax) + "\n"}) {
    CAPTURE(expected);
    CHECK(text.find(expected) != std::string::npos);
  }
}

}  // namespace
}  // namespace ferry::farm::wire
