// Tests of how --json lays out its text.
#include "host/text/json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

using ferry::text::Json;
using ferry::text::json_text;

namespace {

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

}  // namespace

TEST_CASE("a field stands on a line, and so does a short list of numbers or words") {
  const Json json = {{"name", "mm"},          {"seconds", {1.5e-6, 2, nullptr}}, {"features", {"avx", "fma"}},
                     {"none", Json::array()}, {"nothing", Json::object()},       {"sizes", {{"M", 4}}}};
  CHECK(json_text(json) ==
        "{\n  \"name\": \"mm\",\n  \"seconds\": [1.5e-06, 2, null],\n  \"features\": [\"avx\", \"fma\"],\n"
        "  \"none\": [],\n  \"nothing\": {},\n  \"sizes\": {\n    \"M\": 4\n  }\n}");
}

TEST_CASE("a list of lists has an inner list a line") {
  CHECK(json_text({{"values", {{1, 2}, {3, 4}}}}) == "{\n  \"values\": [\n    [1, 2],\n    [3, 4]\n  ]\n}");
}

TEST_CASE("a long list of numbers is filled up to the width, and means the same") {
  Json json = {{"seconds", Json::array()}, {"deep", {{"cores", Json::array()}}}};
  for (int i = 0; i < 1000; ++i) {
    json["seconds"].push_back(1e-6 / (i + 1));
    json["deep"]["cores"].push_back(i);
  }
  const std::string text = json_text(json);
  CHECK(longest_line(text) <= ferry::text::kJsonWidth);
  CHECK(std::count(text.begin(), text.end(), '\n') < 400);
  CHECK(Json::parse(text) == json);
}

TEST_CASE("the width is used up exactly, with the comma that follows a list") {
  for (std::size_t length = 60; length < 100; ++length) {
    const Json json = {{"text", {std::string(length, 'x'), 1}}, {"next", 1}};
    const std::string text = json_text(json);
    const bool is_one_line = text.find("x\", 1]") != std::string::npos;
    // Two spaces, the key with ': ', the brackets, the quotes, ', 1' and the comma.
    CHECK(is_one_line == (2 + 8 + 2 + length + 2 + 3 + 1 <= ferry::text::kJsonWidth));
  }
}

TEST_CASE("long lists of sentences have one a line, and bytes that are no UTF-8 are replaced") {
  const std::string sentence(70, 'a');
  CHECK(json_text({sentence, sentence}) == "[\n  \"" + sentence + "\",\n  \"" + sentence + "\"\n]");
  CHECK(Json::parse(json_text({{"name", "\xff"}})).at("name") == "\xef\xbf\xbd");
}
