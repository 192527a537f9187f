// Each file holds one mistake: text/NAME.tc ends with a comment "# expect LINE:COLUMN: MESSAGE".
#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/text.h"
#include "tests/paths.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string refusal(const std::string& text, const std::string& file) {
  try {
    ferry::lang::parse(text, file);
  } catch (const ferry::CompileError& error) {
    return error.what();
  }
  return "the text was accepted";
}

std::vector<std::filesystem::path> mistakes() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/tests/error/text")) {
    if (entry.path().extension() == ".tc") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string line_of(const std::string& text, int number) {
  std::istringstream lines(text);
  std::string line;
  while (number-- > 0) std::getline(lines, line);
  return line;
}

}  // namespace

TEST_CASE("each mistake in a text is told with its place, the line and a caret") {
  REQUIRE(mistakes().size() > 40);
  for (const std::filesystem::path& path : mistakes()) {
    const std::string name = path.filename().string();
    CAPTURE(name);
    std::ostringstream whole;
    whole << std::ifstream(path).rdbuf();
    const std::string text = whole.str();
    const std::string marker = "# expect ";
    const std::size_t at = text.rfind(marker);
    REQUIRE(at != std::string::npos);
    const std::string expected = text.substr(at + marker.size(), text.find('\n', at) - at - marker.size());

    std::istringstream got(refusal(text.substr(0, at), name));
    std::string message, line, caret;
    std::getline(got, message);
    std::getline(got, line);
    std::getline(got, caret);
    CHECK(message == name + ":" + expected);

    int number = 0, column = 0;
    char colon = 0;
    std::istringstream(expected) >> number >> colon >> column;
    // An empty line is not quoted.
    const std::string source = line_of(text.substr(0, at), number);
    if (source.empty()) {
      CHECK(line.empty());
      continue;
    }
    CHECK(line == "  " + source);
    CHECK(caret == std::string(static_cast<std::size_t>(column) + 1, ' ') + "^");
  }
}
