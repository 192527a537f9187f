#include "host/cli/options/option_checks.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <optional>
#include <sstream>

#include "base/quantity_text.h"

namespace ferry::cli {

namespace {

// The name of such a check; its words follow. CLI11 shows descriptions, never names.
const std::string kOneOf = "one of ";

template <class T>
std::optional<T> parse(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
CLI::Validator between(T low, T high, const std::string& what) {
  return {[=](std::string& text) {
            const std::optional<T> value = parse<T>(text);
            return value && *value >= low && *value <= high ? "" : "expected " + what + ", got '" + text + "'";
          },
          ""};
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string name = kOneOf + join(" ", words);
  return {[words = std::move(words)](std::string& text) {
            if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
            return "expected one of: " + join(", ", words) + "; got '" + text + "'";
          },
          "", name};
}

std::vector<std::string> words_of(CLI::Option& option) {
  std::vector<std::string> words;
  for (int i = 0;; ++i) {
    try {
      const std::string name = option.get_validator(i)->get_name();
      if (!name.starts_with(kOneOf)) continue;
      std::istringstream list(name.substr(kOneOf.size()));
      for (std::string word; list >> word;) words.push_back(word);
    } catch (const CLI::OptionNotFound&) {
      return words;
    }
  }
}

CLI::Validator whole_number(std::uint64_t low, std::uint64_t high) {
  return between(low, high, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

CLI::Validator number(double low, double high) {
  const auto text = [](double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g", value);
    return std::string(digits);
  };
  const std::string upper = high < std::numeric_limits<double>::infinity() ? " to " + text(high) : " up";
  return between(low, high, "a number from " + text(low) + upper);
}

CLI::Validator some_text(const std::string& what) {
  return {[what](std::string& text) { return text.empty() ? "expected " + what + ", got an empty text" : ""; }, ""};
}

}  // namespace ferry::cli
