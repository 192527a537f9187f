// Splits a text into its lines.
#pragma once

#include <string_view>
#include <vector>

namespace ferry {

// Returns the lines without their ends; a last line may lack one. They refer to the text.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace ferry
