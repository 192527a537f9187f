#include "host/cli/options/program_words.h"

#include <algorithm>

namespace ferry::cli {

namespace {

constexpr const char* kOption = "--program";
// Before each word, because CLI11 takes an empty value for a missing one.
constexpr char kMark = '.';

// CLI11 would take the next word as the value of "--cflags=". Flags for a compiler may be none.
void complete_empty_value(std::string& word) {
  if (word.size() < 4 || !word.starts_with("--") || word.find('=') != word.size() - 1) return;
  const std::string name = word.substr(0, word.size() - 1);
  if (!name.starts_with("--cflags")) throw CLI::ValidationError(name, "expected a value behind '=', got none");
  word += ' ';
}

}  // namespace

std::vector<std::string> parser_words(int count, char** words) {
  std::vector<std::string> all(words + 1, words + std::max(count, 1));
  for (std::string& word : all) {
    if (word == "--") break;
    complete_empty_value(word);
  }
  if (all.size() >= 2 && all[0] == "farm" && all[1] == "exec") {
    const auto mark = std::find(all.begin(), all.end(), "--");
    for (auto word = mark; word != all.end() && ++word != all.end();)
      *word = std::string(kOption) + "=" + kMark + *word;
    if (mark != all.end()) all.erase(mark);
  }
  std::reverse(all.begin(), all.end());  // as CLI11 wants them
  return all;
}

void add_program_option(CLI::App& command, std::vector<std::string>& words) {
  command.add_option(kOption, words)->type_size(1)->allow_extra_args(false)->group("");
}

std::vector<std::string> program_words(const std::vector<std::string>& values) {
  std::vector<std::string> words;
  for (const std::string& value : values) words.push_back(value.substr(std::min<std::size_t>(value.size(), 1)));
  return words;
}

}  // namespace ferry::cli
