// Finds keys of so many parts, as in a.b.c = 1, that the tables they make would be too deep for the stack: the parser
// limits the depth of values alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ferry {

// Returns the line of the first key with more than `most_parts` parts. Takes time in proportion to the text, whatever
// it is.
std::optional<std::size_t> line_of_long_key(std::string_view text, std::size_t most_parts);

}  // namespace ferry
