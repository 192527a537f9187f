// Advice about a value that is no TOML: most often its quotes are missing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ferry {

// Takes a text that the parser refused, and where: line and column begin at 1, columns count characters. Returns
// "expected a value, got 2%; write it in quotes: tolerance = "2%"" if that alone lets the parser go on beyond the line,
// or says what to write in place of "yes". Returns nothing for other mistakes.
std::optional<std::string> value_advice(std::string_view text, std::size_t line, std::size_t column);

}  // namespace ferry
