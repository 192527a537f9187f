// Tests that the tables of PROTOCOL.md match the code, since other implementations are written from that page.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "rpc/wire/codec.h"
#include "rpc/wire/frame.h"
#include "tests/paths.h"

namespace ferry::rpc {
namespace {

std::string page() {
  std::ifstream file(FERRY_SOURCE_DIR "/rpc/PROTOCOL.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string row(unsigned tag, const std::string& name) { return "\n| " + std::to_string(tag) + " | " + name + " |"; }

TEST_CASE("the page has a row for every message, event and error") {
  const std::string text = page();
  REQUIRE_FALSE(text.empty());
  const auto expect = [&](const std::string& line) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  };
#define FERRY_ROW(number, request, reply, name, properties) expect(row(number, name));
  FERRY_MESSAGES(FERRY_ROW)
#undef FERRY_ROW
#define FERRY_ROW(number, name) expect(row(number, #name));
  FERRY_ERROR_CODES(FERRY_ROW)
#undef FERRY_ROW
#define FERRY_ROW(number, enumerator, name, bytes, storage) expect(std::to_string(number) + " " + name);
  FERRY_DTYPES(FERRY_ROW)
#undef FERRY_ROW
  expect(row(static_cast<unsigned>(EventTag::progress), "progress"));
  expect(row(static_cast<unsigned>(EventTag::log), "log"));
  expect(row(static_cast<unsigned>(EventTag::waiting), "waiting"));
  expect(row(static_cast<unsigned>(EventTag::crash), "crash"));
  expect(row(static_cast<unsigned>(EventTag::limit), "limit"));
  expect("preamble (" + std::to_string(kPreambleBytes) + " bytes)");
  expect("header (" + std::to_string(kFrameHeaderBytes) + " bytes)");
}

TEST_CASE("the page says of exactly the messages that write what their failure does to later requests") {
  const std::string text = page();
  std::string writing;  // "put_module or alloc", "write, fill, ..."
  for (std::size_t at = text.find("- If a "); at != std::string::npos; at = text.find("- If a ", at + 1)) {
    writing += text.substr(at, text.find(" fails", at) - at) + "\n";
  }
#define FERRY_ROW(number, request, reply, name, properties) \
  CHECK((writing.find(name) != std::string::npos) == has_property(number, kWrites));
  FERRY_MESSAGES(FERRY_ROW)
#undef FERRY_ROW
}

}  // namespace
}  // namespace ferry::rpc
