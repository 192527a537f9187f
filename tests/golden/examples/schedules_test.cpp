// Keeps the default schedule of every example on every target as text, in schedules/EXAMPLE.txt, where targets with the
// same schedule share a section. FERRY_UPDATE_GOLDEN=1 rewrites the files.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "host/schedule/sections.h"
#include "tests/golden/examples/example_cases.h"
#include "tests/golden/examples/pinned_targets.h"

using namespace ferry;
using namespace ferry::test;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = FERRY_SOURCE_DIR "/tests/golden/examples/schedules";

using TextsOfTargets = std::vector<std::pair<std::string, std::string>>;            // in the order of pinned_targets()
using TextsOfCommands = std::map<std::string, std::map<std::string, std::string>>;  // by command, then by target

fs::path file_of(std::string example) {
  for (char& c : example)
    if (c == '/') c = '.';
  return kFolder / (example + ".txt");
}

TextsOfTargets schedule_texts(const ExampleCase& example, const std::vector<PinnedTarget>& targets) {
  TextsOfTargets texts;
  for (const PinnedTarget& pinned : targets)
    if (texts.empty() || texts.back().first != pinned.name)
      texts.emplace_back(pinned.name, to_text(example.programs, example.schedules(pinned.target)));
  return texts;
}

std::string section(const ExampleCase& example, const TextsOfTargets& texts) {
  std::string written = "$ " + example.command + "\n";
  std::set<std::string> done;
  for (const auto& [first, text] : texts) {
    if (!done.insert(text).second) continue;
    std::string names;
    for (const auto& [name, other] : texts)
      if (other == text) names += (names.empty() ? "" : "; ") + name;
    written += "[" + names + "]\n" + text;
  }
  return written + "\n";
}

TextsOfCommands read_texts(const fs::path& path) {
  TextsOfCommands texts;
  std::ifstream file(path);
  std::string command;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("$ ")) {
      command = line.substr(2);
      names.clear();
    } else if (line.starts_with("[")) {
      names.clear();
      for (std::size_t begin = 1; begin < line.size();) {
        const std::size_t end = std::min(line.find("; ", begin), line.size() - 1);
        names.push_back(line.substr(begin, end - begin));
        begin = end + 2;
      }
      for (const std::string& name : names) texts[command][name];
    } else if (!line.empty() && !line.starts_with("#")) {
      for (const std::string& name : names) texts[command][name] += line + "\n";
    }
  }
  return texts;
}

std::string without_empty_lines(const std::string& text) {
  std::string kept;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) kept += line + "\n";
  return kept;
}

}  // namespace

TEST_CASE("default schedules of the examples are those that were kept") {
  const bool update = getenv("FERRY_UPDATE_GOLDEN") != nullptr;
  const std::vector<PinnedTarget> targets = pinned_targets();
  std::map<fs::path, std::string> written;
  int compared = 0;
  for (const ExampleCase& example : example_cases()) {
    if (!example.has_default_schedule()) continue;
    const fs::path path = file_of(example.example);
    const TextsOfTargets texts = schedule_texts(example, targets);
    if (update) {
      if (written[path].empty())
        written[path] = "# Default schedules; FERRY_UPDATE_GOLDEN=1 rewrites them (docs/testing.md).\n\n";
      written[path] += section(example, texts);
      continue;
    }
    written[path];
    const TextsOfCommands kept = read_texts(path);
    const auto of_command = kept.find(example.command);
    REQUIRE_MESSAGE(of_command != kept.end(), path.string(), " has nothing for 'ferry compile ", example.command,
                    "': FERRY_UPDATE_GOLDEN=1 adds it");
    for (const auto& [name, text] : texts) {
      const auto of_target = of_command->second.find(name);
      const std::string expected = of_target == of_command->second.end() ? "" : of_target->second;
      CHECK_MESSAGE(without_empty_lines(text) == expected, "ferry compile ", example.command, " --target '", name,
                    "' --emit schedule: expected as in ", path.string(), "\n", expected, "got\n", text);
      ++compared;
    }
  }
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (written.contains(entry.path())) continue;
    if (update)
      fs::remove(entry.path());
    else
      FAIL_CHECK(entry.path().string() << " is of no example: FERRY_UPDATE_GOLDEN=1 removes it");
  }
  if (update)
    for (const auto& [path, text] : written) std::ofstream(path) << text;
  else
    CHECK(compared > 2000);
}
