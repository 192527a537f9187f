// Tests 'ferry gate forget'.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;
using namespace ferry::test;

TEST_CASE("a baseline that is forgotten is gone, and its history stays") {
  const Folder folder;
  std::ofstream(folder.path("twice.tc")) << kTwice;
  std::ofstream(folder.path("suite.toml")) << "name = \"doubles\"\n"
                                              "[cases.small]\nkernel = \"twice.tc\"\nsizes = \"N=64\"\n"
                                              "[cases.large]\nkernel = \"twice.tc\"\nsizes = \"N=4096\"\n";
  const auto gate = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "gate");
    return run_ferry(words, "", {}, folder.path(""));
  };
  const auto verdict_of_small = [&](const std::string& baseline) -> std::string {
    const Outcome outcome = gate({"suite.toml", "--case", "small", "--baseline", baseline, "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out).at("cases").at(0).at("verdict");
  };
  REQUIRE(gate({"suite.toml", "--label", "good"}).code == 0);
  CHECK(verdict_of_small("release") == "first");

  const Outcome unknown = gate({"forget", "relaese"});
  CHECK(unknown.code == 2);
  CHECK(
      contains(unknown.err, "there is no baseline 'relaese' of the suite 'doubles' in .ferry-gate, but release, main"));
  CHECK(verdict_of_small("release") == "unchanged");

  const Outcome release = gate({"forget", "release", "--suite-name", "doubles"});
  INFO(release.err);
  CHECK(release.code == 0);
  CHECK(contains(release.out, "forgot the baseline 'release', of 1 case, of the suite 'doubles' in .ferry-gate"));
  CHECK(gate({"forget", "release"}).code == 2);
  const Outcome forgotten = gate({"forget", "main"});
  CHECK(forgotten.code == 0);
  CHECK(contains(forgotten.out, "forgot the baseline 'main', of 2 cases"));
  CHECK(contains(gate({"forget", "main"}).err, "in .ferry-gate, nor any other"));

  CHECK(contains(gate({"history", "small"}).out, "good"));
  CHECK(verdict_of_small("main") == "first");
  CHECK(gate({"forget", "main", "--suite", "none.toml"}).code == 2);
  CHECK(gate({"forget", "main", "--suite", "suite.toml", "--suite-name", "doubles"}).code == 2);
  CHECK(gate({"forget"}).code == 2);
}
