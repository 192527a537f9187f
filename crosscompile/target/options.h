// The words of a target's text: "llvm -mcpu=cortex-a72 -num-cores 4". Used by target/ alone.
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

// "-key=value", "--key=value" or "-key value"; a key alone has an empty value.
std::vector<Option> options_of(const std::vector<std::string>& words, std::size_t first);

// Options of other compilers that change nothing here, and why; null for any other.
const char* reason_to_ignore(const std::string& key);

// CompileError for a value that is not one.
std::uint64_t number(const Option& option);

}  // namespace ferry
