// Keeps the default schedule of every example on every target as text, in schedules/EXAMPLE.txt, where targets with the
// same schedule share a section. FERRY_UPDATE_GOLDEN=1 rewrites the files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "ferry/schedule/module_schedule.h"
#include "tests/golden/examples/example_cases.h"
#include "tests/golden/examples/pinned_targets.h"
#include "tests/paths.h"

using namespace ferry;
using namespace ferry::test;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = FERRY_SOURCE_DIR "/tests/golden/examples/schedules";

constexpr int kExplained = 20;  // further differences are counted

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
      texts.emplace_back(pinned.name, autoschedule::to_text(example.programs, example.schedules(pinned.target)));
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

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns the lines that differ, without those that both texts begin and end with.
std::string difference(const std::string& expected, const std::string& got) {
  const std::vector<std::string> before = lines_of(expected), now = lines_of(got);
  const std::size_t shorter = std::min(before.size(), now.size());
  std::size_t first = 0, last = 0;
  while (first < shorter && before[first] == now[first]) ++first;
  while (last < shorter - first && before[before.size() - 1 - last] == now[now.size() - 1 - last]) ++last;
  std::string text;
  for (std::size_t i = first; i < before.size() - last; ++i) text += "- " + before[i] + "\n";
  for (std::size_t i = first; i < now.size() - last; ++i) text += "+ " + now[i] + "\n";
  return text;
}

// Compares the schedules in the file with those decided now, and reports equal changes once. Returns the number
// of differences.
int compare(const ExampleCase& example, const TextsOfTargets& texts, const fs::path& path, int explained) {
  const TextsOfCommands kept = read_texts(path);
  const auto of_command = kept.find(example.command);
  if (of_command == kept.end()) {
    FAIL_CHECK(path.string() << " has nothing for '" << example.command << "': FERRY_UPDATE_GOLDEN=1 adds it");
    return 1;
  }
  std::map<std::string, std::string> commands_of_difference;
  for (const auto& [name, text] : texts) {
    const auto of_target = of_command->second.find(name);
    const std::string expected = of_target == of_command->second.end() ? "" : of_target->second;
    if (const std::string got = without_empty_lines(text); got != expected)
      commands_of_difference[difference(expected, got)] +=
          "\n  ferry compile " + example.command + " --target '" + name + "' --emit schedule";
  }
  for (const auto& [lines, commands] : commands_of_difference)
    if (explained++ < kExplained)
      FAIL_CHECK("expected the default schedule of " << path.string() << ", got another from" << commands << "\n"
                                                     << lines);
  return static_cast<int>(commands_of_difference.size());
}

}  // namespace

TEST_CASE("default schedules of the examples are those that were kept") {
  const bool update = getenv("FERRY_UPDATE_GOLDEN") != nullptr;
  const std::vector<PinnedTarget> targets = pinned_targets();
  std::map<fs::path, std::string> written;
  std::map<fs::path, std::set<std::string>> commands;
  int different = 0;
  for (const ExampleCase& example : example_cases()) {
    if (!example.has_default_schedule()) continue;
    const fs::path path = file_of(example.example);
    const TextsOfTargets texts = schedule_texts(example, targets);
    commands[path].insert(example.command);
    if (written[path].empty())
      written[path] = "# Default schedules; FERRY_UPDATE_GOLDEN=1 rewrites them (docs/testing.md).\n\n";
    written[path] += section(example, texts);
    if (!update) different += compare(example, texts, path, different);
  }
  CHECK(commands.size() > 30);
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (update && !commands.contains(entry.path())) fs::remove(entry.path());
    if (update) continue;
    for (const auto& [command, texts] : read_texts(entry.path()))
      CHECK_MESSAGE(commands[entry.path()].contains(command), entry.path().string(), " has '", command,
                    "', which is no example: FERRY_UPDATE_GOLDEN=1 removes it");
  }
  if (update)
    for (const auto& [path, text] : written) std::ofstream(path) << text;
  CHECK_MESSAGE(different == 0, different, " differences, of which at most ", kExplained,
                " are shown. If the change is meant, FERRY_UPDATE_GOLDEN=1 keeps what is decided now");
}
