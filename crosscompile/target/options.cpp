#include "crosscompile/target/options.h"

#include "crosscompile/ir/error.h"

#include <charconv>

namespace ferry {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

std::vector<Option> options_of(const std::vector<std::string>& words, std::size_t first) {
  std::vector<Option> options;
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word[0] != '-') throw CompileError("expected a target option such as -mcpu=cortex-a72, got '" + word + "'");
    const std::size_t begin = word.find_first_not_of('-');
    if (begin == std::string::npos) throw CompileError("expected a target option after '-', got '" + word + "'");
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      options.push_back({word.substr(begin, equals - begin), word.substr(equals + 1)});
    } else if (i + 1 < words.size() && words[i + 1][0] != '-') {
      options.push_back({word.substr(begin), words[i + 1]});
      ++i;
    } else {
      options.push_back({word.substr(begin), ""});
    }
  }
  return options;
}

const char* reason_to_ignore(const std::string& key) {
  if (key == "device" || key == "model" || key == "keys" || key == "tag") {
    return "schedules depend on the CPU, not on a device's name";
  }
  if (key == "libs") return "kernels call no libraries";
  if (key == "system-lib" || key == "link-params" || key == "runtime" || key == "executor") {
    return "a module is always a .ferry file";
  }
  if (key == "opt-level" || key == "O") return "kernels are always optimised";
  return nullptr;
}

std::uint64_t number(const Option& option) {
  std::uint64_t value = 0;
  const char* end = option.value.data() + option.value.size();
  const auto [stopped, error] = std::from_chars(option.value.data(), end, value);
  if (error != std::errc() || stopped != end || option.value.empty()) {
    throw CompileError("expected a number for -" + option.key + ", got '" + option.value + "'");
  }
  return value;
}

}  // namespace ferry
