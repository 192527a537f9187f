// Each file holds one mistake in a suite of the gate (suite/NAME.toml) or in the configuration of a farm
// (farm_config/NAME.toml), and ends with a comment "# expect MESSAGE", in which FILE stands for the file's name.
#include <doctest/doctest.h>

#include "farm/config/farm_config.h"
#include "ferry/error.h"
#include "host/gate/suite/read_suite.h"
#include "tests/paths.h"
#include "tests/unit/host/gate/suite/schemes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Returns the message with which a text is refused.
using Refusal = std::function<std::string(const std::string& text)>;

std::string refusal_of_suite(const std::string& text) {
  try {
    ferry::gate::parse_suite(text, "FILE", ferry::test::kSchemes);
  } catch (const ferry::UsageError& error) {
    return error.what();
  }
  return "the suite was accepted";
}

std::string refusal_of_farm(const std::string& text) {
  const auto config = ferry::farm::parse_farm_config(text, "FILE");
  return config.is_ok() ? "the configuration was accepted" : config.status().message();
}

void check_folder(const std::string& folder, std::size_t least, const Refusal& refusal) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/tests/error/" + folder))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(files.size() >= least);
  const std::string marker = "# expect ";
  for (const std::filesystem::path& path : files) {
    CAPTURE(path);
    std::ostringstream whole;
    whole << std::ifstream(path).rdbuf();
    const std::string text = whole.str();
    const std::size_t at = text.rfind(marker);
    REQUIRE(at != std::string::npos);
    const std::string expected = text.substr(at + marker.size(), text.find('\n', at) - at - marker.size());
    CHECK(refusal(text.substr(0, at)) == expected);
  }
}

}  // namespace

TEST_CASE("each mistake in a suite is told with its line and key") { check_folder("suite", 20, refusal_of_suite); }

TEST_CASE("each mistake in the configuration of a farm is told with its line and key") {
  check_folder("farm_config", 15, refusal_of_farm);
}
