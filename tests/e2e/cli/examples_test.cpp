// examples/NAME.VARIANT.schedule applies to examples/NAME.tc. Its comments give the arguments to test it with, "# try
// --fn F --size M=13,..." (possibly several lines), optional "# knob NAME=VALUE" lines, and the arguments that
// scripts/examples.sh times, "# run ..."; schedules for GPUs have a line "# target opencl".
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"
#include "tests/paths.h"
#include "tests/support/examples.h"

using namespace ferry;
using namespace ferry::test;

// tests/e2e/programs runs all examples on every architecture; tests/e2e/gpu runs those for GPUs.
TEST_CASE("schedules of examples run as their comments say") {
  for (const std::filesystem::path& path : example_files(".schedule")) {
    const std::string name = path.stem().string();
    CAPTURE(name);
    const std::string text = test::content_of(path.string());
    REQUIRE(!words_of(text, "try").empty());
    REQUIRE(words_of(text, "run").size() == 1);
    if (!name.starts_with("10_matmul.") || !words_of(text, "target").empty()) continue;
    std::vector<std::string> words = {"run", kernel_of(path).string(), "--schedule", path.string(), "--check"};
    const std::vector<std::string> sizes = words_of(text, "try").at(0);
    words.insert(words.end(), sizes.begin(), sizes.end());
    for (const auto& knob : words_of(text, "knob")) words.insert(words.end(), {"--knob", knob.at(0)});
    const test::Outcome outcome = test::run_ferry(words);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(outcome.out.find(": fine: ") != std::string::npos);
  }
}

TEST_CASE("every numbered kernel has a schedule") {
  CHECK(example_files(".tc").size() >= 22);
  for (const std::filesystem::path& path : example_files(".tc")) {
    const std::string name = path.stem().string();
    CAPTURE(name);
    const auto schedules = example_files(".schedule");
    CHECK(std::any_of(schedules.begin(), schedules.end(),
                      [&](const auto& schedule) { return schedule.stem().string().starts_with(name + "."); }));
  }
}

TEST_CASE("the examples in C++ compute what they say, and are at most 30 lines") {
  CHECK(example_files(".cpp").size() >= 3);
  for (const std::filesystem::path& path : example_files(".cpp")) {
    const std::string name = path.stem().string(), text = test::content_of(path.string());
    CAPTURE(name);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 30);
    const test::Folder folder;
    const std::string out = folder.path("out.txt");
    CHECK(std::system((FERRY_BINARY_DIR "/bin/examples/" + name + " >" + out + " 2>&1").c_str()) == 0);
    const std::string said = test::content_of(out);
    CAPTURE(said);
    CHECK(said.find(": fine\ntimes  serial loops ") != std::string::npos);
  }
}

TEST_CASE("scripts/examples.sh prints an example's loops, that it is right, and its times") {
  const test::Folder folder;
  const std::string out = folder.path("out.txt");
  const std::string command = "FERRY=" FERRY_BINARY_DIR "/bin/ferry " FERRY_SOURCE_DIR
                              "/scripts/examples.sh 05_broadcast.good >" +
                              out + " 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string text = test::content_of(out);
  CAPTURE(text);
  CHECK(text.starts_with("== 05_broadcast.good\nWalks along rows in vectors"));
  CHECK(text.find("\n  parallel for (i = 0; i < M; ++i) {\n") != std::string::npos);
  CHECK(text.find("\ncheck C: ") != std::string::npos);
  CHECK(text.find("\ntimes  --fn add_column --size M=2000,N=2000: serial loops ") != std::string::npos);
}
