// What changed from one text to another, as `diff -u` shows it.
#pragma once

#include <string>
#include <string_view>

namespace ferry::cli {

// Empty when the texts are the same. The two names head it; `context` lines stand around each change. With `coloured`,
// terminal codes make removed lines red and added ones green.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& before_name,
                         const std::string& after_name, std::size_t context = 3, bool coloured = false);

}  // namespace ferry::cli
