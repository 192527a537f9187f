// Every examples/NAME.VARIANT.schedule computes what examples/NAME.tc says, at sizes that fit nothing. The schedule's
// own comments say which: "# try --fn F --size M=13,...", perhaps "# knob NAME=VALUE".
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/e2e/cli/run_ferry.h"

using namespace ferry;

namespace {

std::vector<std::filesystem::path> schedules() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".schedule") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Of each line "# key ...", its words.
std::vector<std::string> words_after(const std::string& text, const std::string& key) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("# " + key + " ")) continue;
    std::istringstream rest(line.substr(key.size() + 3));
    for (std::string word; rest >> word;) words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("every scheduled example computes what its kernel says, whatever the sizes") {
  CHECK(schedules().size() >= 20);
  for (const std::filesystem::path& path : schedules()) {
    const std::string name = path.stem().string();
    CAPTURE(name);
    const std::string text = test::content_of(path.string());
    const std::vector<std::string> sizes = words_after(text, "try");
    REQUIRE(!sizes.empty());
    REQUIRE(!words_after(text, "run").empty());
    std::vector<std::string> words = {"run", (path.parent_path() / (name.substr(0, name.find('.')) + ".tc")).string(),
                                      "--schedule", path.string(), "--check"};
    words.insert(words.end(), sizes.begin(), sizes.end());
    for (const std::string& knob : words_after(text, "knob")) words.insert(words.end(), {"--knob", knob});
    const test::Outcome outcome = test::run_ferry(words);
    CHECK_MESSAGE(outcome.code == 0, outcome.err);
    CHECK(outcome.out.find(": fine\n") != std::string::npos);
  }
}

TEST_CASE("scripts/examples.sh prints an example's loops, that it is right, and its times") {
  const test::Folder folder;
  const std::string out = folder.path("out.txt");
  const std::string command = "FERRY=" FERRY_BINARY_DIR "/bin/ferry " FERRY_SOURCE_DIR
                              "/scripts/examples.sh 03_broadcast.good >" +
                              out + " 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string text = test::content_of(out);
  CAPTURE(text);
  CHECK(text.starts_with("== 03_broadcast.good\nAlong rows, in vectors"));
  CHECK(text.find("\n  parallel for (i = 0; i < M; ++i) {\n") != std::string::npos);
  CHECK(text.find("\ncheck C: ") != std::string::npos);
  CHECK(text.find("\ntimes  --fn add_column --size M=2000,N=2000: serial loops ") != std::string::npos);
}
