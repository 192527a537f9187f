// The differences between two texts in the format of `diff -u`.
#pragma once

#include <string>
#include <string_view>

namespace ferry::text {

// Returns an empty text when both are the same. The header has the two names; `context` lines surround each change.
// With `coloured`, terminal codes make removed lines red and added ones green.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& before_name,
                         const std::string& after_name, std::size_t context = 3, bool coloured = false);

}  // namespace ferry::text
