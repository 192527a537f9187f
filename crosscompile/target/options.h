// Splits a target's text into words: "llvm -mcpu=cortex-a72 -num-cores 4". Used by target/ alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ferry {

struct Option {
  std::string key, value;
};

std::vector<std::string> words_of(std::string_view text);

// Parses "-key=value", "--key=value" or "-key value"; a key alone has an empty value.
std::vector<Option> options_of(const std::vector<std::string>& words, std::size_t first);

// Returns why an option of another compiler is ignored here; null for any other option.
const char* reason_to_ignore(const std::string& key);

// Throws CompileError when the value is not a number.
std::uint64_t number(const Option& option);

}  // namespace ferry
